package stragglers

import (
	"cmp"
	"slices"
)

// A graph says what depends on what in a step.
//
//	units are the operations that wait for each other: a computation alone, those of a collective, a send with its receive
//	order is an order of units in which each comes after what its operations follow
//	follows[n] are the nodes that node n follows
type graph struct {
	units   [][]int32
	follows [][]int32
}

// slack is how far, in ns, a receive may start behind the last computation, or a send end before the first one, to be real.
const slack = 50_000

// stageNodes are the nodes of one stage of the template: by kind, in order of start.
type stageNodes [kinds][]int

// newGraph finds the dependences of a step of a job.
func newGraph(j *job) (*graph, error) {
	n := len(j.template)
	g := &graph{follows: make([][]int32, n*j.dps)}
	stages := make([]stageNodes, j.stages)
	for i := range j.template {
		x := &j.template[i]
		stages[x.stage][x.kind] = append(stages[x.stage][x.kind], i)
	}
	chunks := 0
	for s := range stages {
		for k := range stages[s] {
			slices.SortStableFunc(stages[s][k], func(a, b int) int {
				x, y := &j.template[a], &j.template[b]
				return cmp.Or(cmp.Compare(x.start, y.start), cmp.Compare(x.seq, y.seq))
			})
		}
		for _, i := range stages[s][forwardCompute] {
			if c := j.template[i].chunk; c != none {
				chunks = max(chunks, int(min(c, 1<<16))+1)
			}
		}
	}
	b := &builder{job: j, follows: make([][]int32, n), real: make([]bool, n), last: j.stages*max(1, chunks) - 1}
	separate := slices.ContainsFunc(j.template, func(x node) bool { return x.kind == separateReduce })
	for s := range stages {
		b.worker(&stages[s], separate)
	}
	for d := range j.dps {
		for i, before := range b.follows {
			for _, k := range before {
				g.follows[d*n+i] = append(g.follows[d*n+i], int32(d*n)+k)
			}
		}
	}
	b.meet(stages, g)
	return g, g.sort()
}

// A builder builds the graph of dp 0.
type builder struct {
	*job
	follows [][]int32
	real    []bool // sends and receives that have a partner
	last    int    // chunk of the model
}

// after states that a node follows others.
func (b *builder) after(n int, before ...int) {
	for _, k := range before {
		b.follows[n] = append(b.follows[n], int32(k))
	}
}

// chain states that nodes follow each other.
func (b *builder) chain(nodes []int) {
	for i := 1; i < len(nodes); i++ {
		b.after(nodes[i], nodes[i-1])
	}
}

// byStart returns nodes of kinds in order of start, then seq.
func (b *builder) byStart(lists ...[]int) []int {
	all := slices.Concat(lists...)
	slices.SortStableFunc(all, func(x, y int) int {
		return cmp.Or(cmp.Compare(b.template[x].start, b.template[y].start), cmp.Compare(b.template[x].seq, b.template[y].seq))
	})
	return all
}

// worker finds the dependences of one worker.
func (b *builder) worker(s *stageNodes, separate bool) {
	computations := b.byStart(s[forwardCompute], s[backwardCompute], s[weightCompute])
	b.chain(computations)
	for _, k := range []kind{forwardSend, forwardRecv, backwardSend, backwardRecv} {
		b.chain(s[k])
	}
	b.pipeline(s[forwardCompute], s[forwardRecv], s[forwardSend], 1)
	b.pipeline(s[backwardCompute], s[backwardRecv], s[backwardSend], -1)
	if len(s[backwardCompute]) > 0 {
		if first := slices.Index(computations, s[backwardCompute][0]); first >= 2 {
			for _, k := range []kind{backwardRecv, backwardSend} {
				if len(s[k]) > 0 {
					b.after(s[k][0], computations[first-2])
				}
			}
		}
	}
	b.chain(b.byStart(s[paramsGather], s[gradsScatter]))
	b.gathers(s)
	b.tail(s, computations, separate)
}

// pipeline links the computations of one way with their receives and sends. ahead is by how much the chunk of the model grows.
func (b *builder) pipeline(computations, receives, sends []int, ahead int) {
	if len(computations) == 0 {
		return
	}
	firstEnd, lastStart := b.template[computations[0]].end, b.template[computations[len(computations)-1]].start
	receives = slices.DeleteFunc(slices.Clone(receives), func(i int) bool { return b.template[i].start > lastStart+slack })
	sends = slices.DeleteFunc(slices.Clone(sends), func(i int) bool { return b.template[i].end < firstEnd-slack })
	skipped := 0
	if len(receives) == len(computations)-1 {
		skipped = 1
	}
	for n, i := range receives {
		if n+skipped >= len(computations) {
			break
		}
		c := computations[n+skipped]
		b.after(c, i)
		if n+skipped > 0 {
			b.after(i, computations[n+skipped-1])
		}
		b.real[i] = b.has(c, -ahead)
	}
	for n, i := range sends {
		if n >= len(computations) {
			break
		}
		b.after(i, computations[n])
		b.real[i] = b.has(computations[n], ahead)
	}
}

// has reports whether the model has a chunk so far from that of a computation. Where chunks are not recorded it has.
func (b *builder) has(computation, by int) bool {
	c := b.template[computation].model
	return c == none || int64(c)+int64(by) >= 0 && int64(c)+int64(by) <= int64(b.last)
}

// gathers states that the first forward computation of a chunk follows its last gathering of parameters.
func (b *builder) gathers(s *stageNodes) {
	last := make(map[uint32]int)
	for _, i := range s[paramsGather] {
		last[b.template[i].chunk] = i
	}
	for _, i := range s[forwardCompute] {
		if k, ok := last[b.template[i].chunk]; ok {
			b.after(i, k)
			delete(last, b.template[i].chunk)
		}
	}
}

// tail links what comes behind the computations.
func (b *builder) tail(s *stageNodes, computations []int, separate bool) {
	var before []int
	if len(computations) > 0 {
		before = []int{slices.MaxFunc(computations, func(x, y int) int { return cmp.Compare(b.template[x].end, b.template[y].end) })}
	}
	next := func(nodes []int) {
		if len(nodes) == 0 {
			return
		}
		for _, i := range nodes {
			b.after(i, before...)
		}
		before = nodes
	}
	next(s[gc])
	if !separate {
		for _, k := range []kind{layernormReduce, embeddingReduce, gradsScatter, clip, optimizer} {
			next(s[k])
		}
		return
	}
	last := make(map[uint32]int)
	for _, i := range s[backwardCompute] {
		last[b.template[i].chunk] = i
	}
	for _, i := range s[gradsScatter] {
		if k, ok := last[b.template[i].chunk]; ok {
			b.after(i, k)
		}
	}
	if n := len(s[gradsScatter]); n > 0 {
		before = append(slices.Clone(before), s[gradsScatter][n-1])
	}
	for _, k := range []kind{layernormReduce, embeddingReduce, separateReduce, clip, optimizer} {
		next(s[k])
	}
}

// meet finds who communicates together, and makes the units.
func (b *builder) meet(stages []stageNodes, g *graph) {
	n := len(b.template)
	unit := make([]int32, n*b.dps) // by node; -1: none so far
	for i := range unit {
		unit[i] = -1
	}
	join := func(nodes []int) {
		if len(nodes) == 0 {
			return
		}
		list := make([]int32, len(nodes))
		for k, i := range nodes {
			list[k], unit[i] = int32(i), int32(len(g.units))
		}
		g.units = append(g.units, list)
	}
	partnered := func(s int, k kind) (out []int) {
		for _, i := range stages[s][k] {
			if b.real[i] {
				out = append(out, i)
			}
		}
		return out
	}
	for d := range b.dps {
		for s := range stages {
			for _, way := range []struct {
				send, receive kind
				by            int
			}{{forwardSend, forwardRecv, 1}, {backwardSend, backwardRecv, b.stages - 1}} {
				sends, receives := partnered(s, way.send), partnered((s+way.by)%b.stages, way.receive)
				for i := range min(len(sends), len(receives)) {
					join([]int{d*n + sends[i], d*n + receives[i]})
				}
			}
		}
		if b.stages > 1 {
			first, last := stages[0][embeddingReduce], stages[b.stages-1][embeddingReduce]
			for i := range min(len(first), len(last)) {
				join([]int{d*n + first[i], d*n + last[i]})
			}
		}
	}
	for s := range stages {
		for _, k := range []kind{paramsGather, gradsScatter, separateReduce} {
			for _, i := range stages[s][k] {
				var all []int
				for d := range b.dps {
					all = append(all, d*n+i)
				}
				join(all)
			}
		}
	}
	b.together(stages, join)
	most := 0
	for s := range stages {
		most = max(most, len(stages[s][clip]))
	}
	for i := range most {
		var all []int
		for d := range b.dps {
			for s := range stages {
				if i < len(stages[s][clip]) {
					all = append(all, d*n+stages[s][clip][i])
				}
			}
		}
		join(all)
	}
	for i, u := range unit {
		if u < 0 {
			join([]int{i})
		}
	}
}

// together joins the computations of workers that wait for each other within them.
func (b *builder) together(stages []stageNodes, join func([]int)) {
	if b.coupled == nil {
		return
	}
	for s := range stages {
		sets := make(map[int32][]int) // of columns
		for d := range b.dps {
			c := b.coupled[d*b.stages+s]
			sets[c] = append(sets[c], d)
		}
		for d := range b.dps { // in order
			set := sets[b.coupled[d*b.stages+s]]
			if len(set) < 2 || set[0] != d {
				continue
			}
			for _, k := range []kind{forwardCompute, backwardCompute, weightCompute} {
				for _, i := range stages[s][k] {
					var all []int
					for _, column := range set {
						all = append(all, column*len(b.template)+i)
					}
					join(all)
				}
			}
		}
	}
}

// sort puts units into an order in which each comes after what it follows.
func (g *graph) sort() error {
	unit := make([]int32, len(g.follows))
	for u, nodes := range g.units {
		for _, i := range nodes {
			unit[i] = int32(u)
		}
	}
	waits := make([]int32, len(g.units))
	then := make([][]int32, len(g.units))
	for i, before := range g.follows {
		for _, k := range before {
			waits[unit[i]]++
			then[unit[k]] = append(then[unit[k]], unit[i])
		}
	}
	var order []int32
	for u := range g.units {
		if waits[u] == 0 {
			order = append(order, int32(u))
		}
	}
	for k := 0; k < len(order); k++ {
		for _, u := range then[order[k]] {
			if waits[u]--; waits[u] == 0 {
				order = append(order, u)
			}
		}
	}
	if len(order) < len(g.units) {
		return &MissingError{"the operations of the first step wait for each other in a circle"}
	}
	sorted := make([][]int32, len(order))
	for k, u := range order {
		sorted[k] = g.units[u]
	}
	g.units = sorted
	return nil
}
