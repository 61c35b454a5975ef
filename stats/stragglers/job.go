// Package stragglers finds what a training job loses to slow workers, by replays of its steps (DEFINITIONS 2.19).
package stragglers

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"tracekit/document/training"
	"tracekit/engine"
	"tracekit/trace"
)

// A kind is a type of operations.
type kind uint8

const (
	forwardCompute kind = iota
	backwardCompute
	weightCompute
	optimizer
	gc
	forwardSend
	forwardRecv
	backwardSend
	backwardRecv
	paramsGather
	gradsScatter
	separateReduce
	layernormReduce
	embeddingReduce
	clip
	kinds
)

// kindNames are the names of kinds.
var kindNames = trace.TrainingOperations

// computes reports whether operations of the kind are computations.
func (k kind) computes() bool { return k < trace.TrainingComputations }

// shown returns the type under which a kind is reported: sends and receives of one way are one.
func (k kind) shown() string {
	switch k {
	case forwardSend, forwardRecv:
		return "forward-pp-comm"
	case backwardSend, backwardRecv:
		return "backward-pp-comm"
	}
	return kindNames[k]
}

// An op is a recorded operation. Times are in ticks; a chunk that is not recorded is none.
type op struct { // of which there are very many
	step       uint64
	seq        uint64
	start, end int64
	bytes      uint64
	dp, stage  uint32
	rank       uint32
	chunk      uint32
	model      uint32
	batch      uint32
	lane       uint32
	kind       kind
	numbered   bool // seq is recorded
	inDP       bool // dp is recorded
	inStage    bool // stage is recorded
	sized      bool // bytes is recorded
}

// none stands for a number that is not recorded.
const none = trace.None

// ErrNoJob says that a trace is not one of a training job whose operations are recorded.
var ErrNoJob = errors.New("no operation has a step and a known type, such as forward-compute")

// An opened is an operation that is entered and not left.
type opened struct {
	op
	known bool
}

// collect reads the operations of a trace that lists them; unknown counts those of other types that have a step.
func collect(ctx context.Context, src trace.Source, jobs int) (ops []op, unknown int, err error) {
	defs := src.Defs()
	c := &collector{ranks: defs.Ranks(), src: src, kinds: make([]kind, len(defs.Regions))}
	for i, a := range []string{trace.AttributeStep, trace.AttributeDP, trace.AttributeStage, trace.AttributeSeq, trace.AttributeChunk,
		trace.AttributeModelChunk, trace.AttributeMicroBatch, trace.AttributeTP, trace.AttributeBytes} {
		c.attributes[i] = defs.AttributeByName(a)
	}
	for i := range defs.Regions {
		name := defs.RegionName(trace.RegionID(i))
		c.kinds[i] = kind(len(kindNames))
		if k := slices.Index(kindNames[:], name); k >= 0 {
			c.kinds[i] = kind(k)
		}
	}
	others := make([]int, len(defs.Locations))
	parts, err := engine.Map(ctx, jobs, len(defs.Locations), func(ctx context.Context, l int) (ops []op, err error) {
		ops, others[l], err = c.location(ctx, trace.LocationID(l))
		return ops, err
	})
	if err != nil {
		return nil, 0, err
	}
	for _, n := range others {
		unknown += n
	}
	return slices.Concat(parts...), unknown, nil
}

type collector struct {
	src        trace.Source
	ranks      []uint32
	kinds      []kind // by region
	attributes [9]trace.AttributeID
}

// location reads the operations of a location.
func (c *collector) location(ctx context.Context, l trace.LocationID) (ops []op, unknown int, err error) {
	var stack trace.CallStack[opened]
	for b, err := range c.src.Events(ctx, l) {
		if err != nil {
			return nil, 0, err
		}
		next := 0
		for i, seq := range b.Flow.Seq {
			if b.Flow.Kind[i] == trace.KindLeave {
				for n := stack.Leave(b.Flow.Region[i]); n > 0; n-- { // all but the last were never left
					if o := stack.Pop(); n == 1 && o.known {
						o.end = b.Flow.Time[i]
						ops = append(ops, o.op)
					}
				}
				continue
			}
			for next < len(b.Attrs.Seq) && b.Attrs.Seq[next] < seq {
				next++
			}
			o, stepped := c.opened(b, i, next)
			o.rank = c.ranks[l]
			if stepped && !o.known {
				unknown++
			}
			stack.Enter(b.Flow.Region[i], o)
		}
	}
	return ops, unknown, nil
}

// opened returns the operation that begins with an Enter, whose attributes begin at a row; stepped tells that it belongs to a step.
func (c *collector) opened(b *trace.Batch, i, at int) (o opened, stepped bool) {
	o.start = b.Flow.Time[i]
	o.chunk, o.model, o.batch = none, none, none
	for ; at < len(b.Attrs.Seq) && b.Attrs.Seq[at] == b.Flow.Seq[i]; at++ {
		v := b.Attrs.Value[at]
		switch slices.Index(c.attributes[:], b.Attrs.Attribute[at]) {
		case 0:
			o.step, stepped = v, true
		case 1:
			o.dp, o.inDP = uint32(min(v, none)), true
		case 2:
			o.stage, o.inStage = uint32(min(v, none)), true
		case 3:
			o.seq, o.numbered = v, true
		case 4:
			o.chunk = uint32(min(v, none))
		case 5:
			o.model = uint32(min(v, none))
		case 6:
			o.batch = uint32(min(v, none))
		case 7:
			o.lane = uint32(min(v, none))
		case 8:
			o.bytes, o.sized = v, true
		}
	}
	if region := b.Flow.Region[i]; int(region) < len(c.kinds) {
		o.kind = c.kinds[region]
		o.known = stepped && o.kind < kinds
	}
	return o, stepped
}

// A job is the operations of the steps that are alike.
//
//	a worker is dp*stages+stage
//	nodes are the operations of one step: those of dp 0, stage by stage, then of dp 1 …
//	start[s][n], end[s][n] are of node n in step s, in ns after the earliest of the step; bytes[s][n] its size, below 0 if none is recorded
type job struct {
	steps       []uint64
	dps, stages int
	dpNumbers   []uint32
	stageNumber []uint32
	ranks       []uint32 // by worker
	template    []node   // of dp 0
	start, end  [][]float64
	bytes       [][]float64
	begins      []int64 // by step: the tick of its earliest operation
	leftOut     int
	unknown     int

	lanes     int     // of a data-parallel rank: dp is data-parallel rank·lanes + lane
	coupled   []int32 // by worker: equal for those whose computations wait for each other; nil: none do
	structure *training.Structure
	missing   []training.WorkerMissing
	hosts     bool // no rank has an accelerator: a send that is recorded ends when its rank asks whether it has
	backward  bool // clocks contradict each other: something that needs all of a group has ended before all have begun
}

// A node is an operation of the template.
type node struct {
	kind       kind
	stage      int
	seq        uint64
	chunk      uint32
	model      uint32
	batch      uint32
	start, end float64 // in the step that the template is of
}

// mostWorkers bounds the workers of a job: data-parallel ranks times stages.
const mostWorkers = 1 << 20

// newJob sorts operations into steps.
func newJob(ops []op, unknown int, tick float64) (*job, error) {
	if len(ops) == 0 {
		return nil, ErrNoJob
	}
	j := &job{unknown: unknown, lanes: 1}
	number(ops)
	slices.SortFunc(ops, compareOps)
	if err := j.find(ops); err != nil {
		return nil, err
	}
	steps := split(j.whole(ops))
	if len(steps) == 0 {
		return j, j.known()
	}
	like := usual(steps)
	j.learn(like, tick)
	for _, ops := range steps {
		j.add(j.step(ops, tick))
	}
	if len(j.steps) == 0 {
		return nil, &MissingError{"data-parallel ranks do not do the same in any step" + unlike(like)}
	}
	return j, nil
}

// known returns an error unless there are steps.
func (j *job) known() error {
	switch {
	case len(j.steps) == 0 && len(j.missing) > 0:
		return &MissingError{fmt.Sprintf("no data-parallel rank has all %d stages; of dp %d, stage %d is not in the trace", j.stages,
			j.missing[0].DP, j.missing[0].Stage)}
	case len(j.steps) == 0:
		return ErrNoJob
	}
	return nil
}

// compareOps orders operations by step, worker, kind and number.
func compareOps(a, b op) int {
	switch {
	case a.step != b.step:
		return cmp.Compare(a.step, b.step)
	case a.dp != b.dp:
		return cmp.Compare(a.dp, b.dp)
	case a.stage != b.stage:
		return cmp.Compare(a.stage, b.stage)
	case a.kind != b.kind:
		return cmp.Compare(a.kind, b.kind)
	}
	return cmp.Or(cmp.Compare(a.seq, b.seq), cmp.Compare(a.start, b.start))
}

// find finds the workers, and the data-parallel ranks of which stages are missing. The error is a *MissingError if they are too many.
func (j *job) find(ops []op) error {
	j.dpNumbers, j.stageNumber = distinct(ops, func(o *op) uint32 { return o.dp }), distinct(ops, func(o *op) uint32 { return o.stage })
	j.stages = len(j.stageNumber)
	there := make(map[[2]uint32]bool)
	for i := range ops {
		there[[2]uint32{ops[i].dp, ops[i].stage}] = true
	}
	has := make(map[uint32]int) // stages of a data-parallel rank
	for worker := range there {
		has[worker[0]]++
	}
	broken := func(d uint32) bool { return has[d] < j.stages }
	for _, d := range j.dpNumbers {
		if !broken(d) {
			continue
		}
		for _, s := range j.stageNumber {
			if len(j.missing) == mostMissing {
				break
			}
			if !there[[2]uint32{d, s}] {
				j.missing = append(j.missing, training.WorkerMissing{DP: int(d), Stage: int(s)})
			}
		}
	}
	if kept := slices.DeleteFunc(slices.Clone(j.dpNumbers), broken); len(kept) > 0 {
		j.dpNumbers = kept
	}
	j.dps = len(j.dpNumbers)
	if j.dps*j.stages > mostWorkers {
		return &MissingError{fmt.Sprintf("%d data-parallel ranks of %d stages are too many", j.dps, j.stages)}
	}
	j.ranks = slices.Repeat([]uint32{none}, j.dps*j.stages)
	return nil
}

// whole leaves out operations of data-parallel ranks that the job does not have.
func (j *job) whole(ops []op) []op {
	if len(j.missing) == 0 {
		return ops
	}
	return slices.DeleteFunc(ops, func(o op) bool { _, has := slices.BinarySearch(j.dpNumbers, o.dp); return !has })
}

// mostMissing bounds the missing workers that are listed.
const mostMissing = 1000

// number gives operations whose numbers are not recorded those of their order.
func number(ops []op) {
	if !slices.ContainsFunc(ops, func(o op) bool { return !o.numbered }) {
		return
	}
	slices.SortStableFunc(ops, func(a, b op) int { return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(a.end, b.end)) })
	type key struct {
		step      uint64
		dp, stage uint32
		kind      kind
	}
	next := make(map[key]uint64)
	for i := range ops {
		k := key{ops[i].step, ops[i].dp, ops[i].stage, ops[i].kind}
		ops[i].seq = next[k]
		next[k]++
	}
}

func distinct(ops []op, of func(*op) uint32) (out []uint32) {
	seen := make(map[uint32]bool)
	for i := range ops {
		if v := of(&ops[i]); !seen[v] {
			seen[v] = true
			out = append(out, v)
		}
	}
	slices.Sort(out)
	return out
}

// begin returns when a step begins.
func begin(ops []op) int64 {
	first := ops[0].start
	for i := range ops {
		first = min(first, ops[i].start)
	}
	return first
}

// learn makes the template of a step, whose operations are in order of dp, stage, kind and seq.
func (j *job) learn(ops []op, tick float64) {
	first := begin(ops)
	for i := range ops {
		o := &ops[i]
		if o.dp != j.dpNumbers[0] {
			break
		}
		stage, _ := slices.BinarySearch(j.stageNumber, o.stage)
		j.template = append(j.template, node{o.kind, stage, o.seq, o.chunk, o.model, o.batch, float64(o.start-first) * tick,
			float64(o.end-first) * tick})
	}
}

// A recordedStep is one whose operations are those of the template.
type recordedStep struct {
	number            uint64
	begins            int64
	start, end, bytes []float64 // by node
	ranks             []uint32  // by worker
}

// step returns a step, whose operations are in order of dp, stage, kind and seq; nil if they are not those of the template.
func (j *job) step(ops []op, tick float64) *recordedStep {
	if len(ops) != j.dps*len(j.template) {
		return nil
	}
	n := len(ops)
	s := &recordedStep{ops[0].step, begin(ops), make([]float64, n), make([]float64, n), make([]float64, n), slices.Clone(j.ranks)}
	at := func(t int64) float64 { return float64(t-s.begins) * tick }
	for i := range ops {
		o, n := &ops[i], &j.template[i%len(j.template)]
		if o.dp != j.dpNumbers[i/len(j.template)] || o.stage != j.stageNumber[n.stage] || o.kind != n.kind || o.seq != n.seq {
			return nil
		}
		s.start[i], s.end[i], s.bytes[i] = at(o.start), at(o.end), -1
		if o.sized {
			s.bytes[i] = float64(o.bytes)
		}
		if w := &s.ranks[i/len(j.template)*j.stages+n.stage]; *w == none {
			*w = o.rank
		}
	}
	return s
}

// add adds a step, nil for one that is left out.
func (j *job) add(s *recordedStep) {
	if s == nil {
		j.leftOut++
		return
	}
	if len(j.steps) == 0 {
		j.ranks = s.ranks
	}
	j.steps, j.begins = append(j.steps, s.number), append(j.begins, s.begins)
	j.start, j.end, j.bytes = append(j.start, s.start), append(j.end, s.end), append(j.bytes, s.bytes)
}

// worker returns the worker of a node.
func (j *job) worker(n int) int {
	return n/len(j.template)*j.stages + j.template[n%len(j.template)].stage
}
