package stragglers

import (
	"cmp"
	"math"
	"slices"
)

// A Pipeline is what a picture of the pipelines of a job needs: the computations of its steps, which data-parallel ranks have alike.
type Pipeline struct {
	Types        []string      `json:"types"` // of computations
	Computations []Computation `json:"computations"`
	Workers      []int         `json:"workers"` // of the document, by data-parallel rank and stage: dp · stages + stage
	Stages       int           `json:"stages"`
	Steps        []Pipelined   `json:"steps"` // the longest first
}

// A Computation is one of a data-parallel rank in a step.
type Computation struct {
	Stage int `json:"stage"` // index
	Type  int `json:"type"`
	Batch int `json:"batch"` // micro-batch; if none is recorded, the number among those of its type in the step on its worker
	Chunk int `json:"chunk"` // of the model, within the stage; -1: not recorded
}

// A Pipelined is a step. Excess is, by worker of the document, by how much longer it computes than its peers. Times has, by
// data-parallel rank, two numbers of each computation, in ns: how long after the end of the one before it begins, the first after
// the begin of the step, and how long it lasts.
type Pipelined struct {
	Index  int       `json:"index"` // among the steps of the document
	Excess []float64 `json:"excess"`
	Times  [][]int64 `json:"times"`
}

// mostIntervals bounds the computations that are kept: more do not fit into a page.
const mostIntervals = 1 << 19

// Keep drops steps, the shorter ones, until n are left.
func (p *Pipeline) Keep(n int) { p.Steps = p.Steps[:min(n, len(p.Steps))] }

// pipeline returns the pipelines of the longest steps. Order has the workers of the document, length how long steps take.
func (r *replayer) pipeline(order []int, length []float64) *Pipeline {
	p := &Pipeline{Stages: r.stages, Workers: make([]int, len(order)), Computations: []Computation{}, Steps: []Pipelined{}}
	for i, w := range order {
		p.Workers[w] = i
	}
	var nodes []int // of the template
	for n := range r.template {
		if x := &r.template[n]; x.kind <= weightCompute {
			nodes = append(nodes, n)
		}
	}
	slices.SortStableFunc(nodes, func(a, b int) int {
		x, y := &r.template[a], &r.template[b]
		return cmp.Or(cmp.Compare(x.stage, y.stage), cmp.Compare(x.start, y.start))
	})
	for k := forwardCompute; k <= weightCompute; k++ {
		p.Types = append(p.Types, kindNames[k])
	}
	for _, n := range nodes {
		x := &r.template[n]
		c := Computation{Stage: x.stage, Type: int(x.kind), Batch: int(x.seq), Chunk: -1}
		if x.batch != none {
			c.Batch = int(x.batch)
		}
		if x.chunk != none {
			c.Chunk = int(x.chunk)
		}
		p.Computations = append(p.Computations, c)
	}
	longest := make([]int, len(r.steps))
	for s := range longest {
		longest[s] = s
	}
	slices.SortStableFunc(longest, func(a, b int) int { return cmp.Compare(length[b], length[a]) })
	for _, s := range longest[:min(len(longest), mostIntervals/max(1, len(nodes)*r.dps))] {
		x := Pipelined{Index: s}
		for _, w := range order {
			x.Excess = append(x.Excess, math.Round(1e4*r.excess[w][s])/1e4)
		}
		for d := range r.dps {
			times, last, stage := make([]int64, 0, 2*len(nodes)), int64(0), -1
			for _, n := range nodes {
				if r.template[n].stage != stage {
					stage, last = r.template[n].stage, 0
				}
				i := d*len(r.template) + n
				start, end := int64(math.Round(r.start[s][i])), int64(math.Round(r.end[s][i]))
				times = append(times, start-last, end-start)
				last = end
			}
			x.Times = append(x.Times, times)
		}
		p.Steps = append(p.Steps, x)
	}
	return p
}
