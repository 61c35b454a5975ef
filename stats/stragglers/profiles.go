package stragglers

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"iter"
	"math"
	"slices"

	"tracekit/document/field"
	"tracekit/document/training"
	"tracekit/engine"
	"tracekit/trace"
)

// A MissingError says why the steps of a training job cannot be replayed: what is not recorded of them, that they are too large, or that
// their operations wait for each other.
type MissingError struct{ Record string }

// Error implements error.
func (e *MissingError) Error() string {
	return "the steps of the training job are not known: " + e.Record
}

// profiled makes the job of what a profiler has recorded (docs/internals/TRAINING.md). The clocks of the source are corrected.
func profiled(ctx context.Context, src trace.Source, jobs int) (*job, error) {
	d := src.Defs()
	locations := make([][]trace.LocationID, len(d.World()))
	for l, r := range d.Ranks() {
		if int(r) < len(locations) {
			locations[r] = append(locations[r], trace.LocationID(l))
		}
	}
	p := newProfiler(src)
	ranks, err := engine.Map(ctx, jobs, len(locations), func(ctx context.Context, r int) (*ranked, error) {
		if len(locations[r]) == 0 {
			return nil, nil
		}
		return p.rank(ctx, uint32(r), locations[r])
	})
	if err != nil {
		return nil, err
	}
	world := len(ranks)
	ranks = slices.DeleteFunc(ranks, func(r *ranked) bool { return r == nil })
	if err := complete(ranks); err != nil {
		return nil, err
	}
	together(ranks)
	groups := groupsOf(d, ranks)
	g, err := place(groups, ranks, world)
	if err != nil {
		return nil, err
	}
	b := &assembly{grid: g, groups: groups, chunks: 1, met: make(map[instance]meeting), coupled: make([]int32, g.dps*g.lanes*g.stages)}
	for w := range b.coupled {
		b.coupled[w] = int32(w)
	}
	for _, r := range ranks {
		b.meet(r)
	}
	if err := b.interleaved(ranks); err != nil {
		return nil, err
	}
	about, marks := notes(ranks, groups, g, world), ranks[0].marks
	b.hosts = !slices.ContainsFunc(ranks, func(r *ranked) bool { return r.kernels > 0 })
	b.order(ranks)
	j, err := b.job(ctx, jobs, 1e9/float64(d.Clock.Resolution))
	switch {
	case errors.Is(err, ErrNoJob):
		return nil, &MissingError{"data-parallel ranks do not do the same in any step"}
	case err != nil:
		return nil, err
	}
	j.lanes, j.hosts = g.lanes, b.hosts
	j.couple(b.coupled, g.stages)
	for _, m := range b.met {
		j.backward = j.backward || m.left < m.latest
	}
	j.structure = &training.Structure{Steps: stepSources[marks], Groups: shown(groups), Notes: about}
	for _, r := range g.leftOut {
		j.structure.LeftOut = append(j.structure.LeftOut, field.Rank(r))
	}
	return j, nil
}

// together lets a step begin on all ranks when the first of them begins it: what others do until then, once they have ended the step
// before, makes them late.
func together(ranks []*ranked) {
	begins := make(map[uint64]int64)
	for _, late := range []bool{false, true} {
		for _, r := range ranks {
			for _, p := range r.parts {
				c := &r.computations[p.computations[0]]
				begin, known := begins[c.step]
				switch {
				case late:
					c.from = max(c.least, min(c.from, begin))
				case !known || c.from < begin:
					begins[c.step] = c.from
				}
			}
		}
	}
}

// stepSources say by what steps are known.
var stepSources = [...]string{noStep: training.StepsRepeat, servedStep: training.StepsServed, namedStep: training.StepsNamed,
	profilerStep: training.StepsProfiler}

// mostNameless is for how many operations of known groups there may be one of an unknown group.
const mostNameless = 8

// complete says what is missing of ranks.
func complete(ranks []*ranked) error {
	calls, computations := 0, 0
	for _, r := range ranks {
		calls, computations = calls+len(r.calls), computations+len(r.computations)
		if mostNameless*r.nameless > len(r.calls) {
			return &MissingError{fmt.Sprintf("operations of rank %d do not say in which of several process groups they are; newer versions of "+
				"PyTorch record that of NCCL; of gloo, record all ranks, and more steps", r.rank)}
		}
		if r.aimless > 0 && r.aimless >= r.steps {
			return &MissingError{fmt.Sprintf("messages of rank %d do not say to whom they go; record with record_shapes=True", r.rank)}
		}
		if r.steps == 0 {
			return &MissingError{fmt.Sprintf("rank %d has no annotation ProfilerStep# or step, no two calls of Optimizer.step, and its "+
				"communication does not repeat; give the profiler a schedule, and call its step() in each step", r.rank)}
		}
		if r.marks != ranks[0].marks || r.marks <= servedStep && r.steps != ranks[0].steps {
			return &MissingError{fmt.Sprintf("steps of rank %d are not those of rank %d; call step() of the profiler in each step", r.rank,
				ranks[0].rank)}
		}
	}
	switch {
	case computations == 0:
		return &MissingError{"no kernel and no operator is recorded within steps"}
	case calls == 0:
		return &MissingError{"no operation of NCCL or gloo is recorded within steps whose ranks are known"}
	}
	return nil
}

// notes say what else is not recorded.
func notes(ranks []*ranked, groups []processGroup, g *grid, world int) []training.Unrecorded {
	var named [update + 1]bool
	batches, kernels, unlinked, described := false, 0, 0, false
	for _, r := range ranks {
		for p, is := range r.named {
			named[p] = named[p] || is
		}
		kernels, unlinked = kernels+r.kernels, unlinked+r.unlinked
		for i := range r.computations {
			batches = batches || r.computations[i].batch != none
		}
	}
	for i := range groups {
		described = described || i > 0 && groups[i].usage != (usage{})
	}
	out := []training.Unrecorded{}
	note := func(is bool, record string, count, of int) {
		if is {
			out = append(out, training.Unrecorded{Record: record, Count: count, Of: of})
		}
	}
	note(!named[backward] && ranks[0].marks != servedStep, training.NoBackward, 0, 0)
	note(named[backward] && !named[update], training.NoOptimizer, 0, 0)
	note(!described, training.NoGroups, 0, 0)
	note(g.stages > 1 && !batches, training.NoMicroBatches, 0, 0)
	note(unlinked > 0, training.NoLaunch, unlinked, kernels)
	note(world > len(ranks), training.NoFiles, world-len(ranks), world)
	return out
}

// An instance is a collective: the n-th on its communicator in a step.
type instance struct {
	step uint64
	comm trace.CommID
	n    int32
}

// An assembly makes operations of ranks.
//
//	met says when the members of each collective begin and leave it
//	both tells that two stages send each other messages of both ways
//	coupled[w] leads to the first worker with which worker w computes together: none begins before all others of them can
//	ranks are those in the grid, in order of their workers; numbers those of the steps
type assembly struct {
	*grid
	groups  []processGroup
	met     map[instance]meeting
	coupled []int32
	chunks  int // of the model, that a stage has
	both    bool
	hosts   bool // as of the job
	ranks   []*ranked
	numbers []uint64
}

// A maker makes the operations of a step at a time: all of a long job are much more than what they are made of.
type maker struct {
	*assembly
	ops     []op
	windows [][2]int64 // of the calls of a step of a rank: while they keep computations waiting
}

// A meeting is when the last member of a collective begins, and the first one leaves it, if it needs the data of all.
type meeting struct{ latest, left int64 }

func (c *call) instance() instance { return instance{c.step, c.comm, c.number} }

// meet notes when the calls of a rank begin, and with whom it computes together.
func (b *assembly) meet(r *ranked) {
	own, placed := b.at[r.rank]
	joined := make(map[trace.CommID]bool)
	for i := range r.calls {
		c := &r.calls[i]
		if c.peer != none {
			continue
		}
		id := c.instance()
		m, met := b.met[id]
		if !met {
			m = meeting{c.start, math.MaxInt64}
		}
		m.latest = max(m.latest, c.start)
		if p := c.op.Pattern(); p == trace.PatternBarrier || p == trace.PatternAllToAll {
			m.left = min(m.left, c.end)
		}
		b.met[id] = m
		if k, _ := b.kind(c, coordinate{}); k != kinds {
			continue
		}
		if !placed || joined[c.comm] || c.tail || c.begun == 0 || int(c.comm) >= len(b.groups) {
			continue
		}
		joined[c.comm] = true
		for _, other := range b.groups[c.comm].ranks {
			if at, known := b.at[other]; known && at.stage == own.stage {
				b.join(b.worker(own), b.worker(at))
			}
		}
	}
}

func (b *assembly) worker(c coordinate) int32 { return int32(b.column(c)*b.stages + c.stage) }

// join lets two workers compute together.
func (b *assembly) join(x, y int32) {
	x, y = first(b.coupled, x), first(b.coupled, y)
	b.coupled[max(x, y)] = min(x, y)
}

// first returns the first worker with which a worker computes together.
func first(coupled []int32, w int32) int32 {
	for coupled[w] != w {
		coupled[w] = coupled[coupled[w]]
		w = coupled[w]
	}
	return w
}

// kind returns as what a call is replayed; kinds: not on its own, since computations wait for it. merged tells that all calls of the
// kind are one in a step.
func (b *assembly) kind(c *call, at coordinate) (k kind, merged bool) {
	switch {
	case c.peer != none:
		return b.message(c, at), false
	case int(c.comm) < len(b.groups):
		return b.groups[c.comm].kind(c)
	}
	return new(processGroup).kind(c)
}

// kind is that of a collective of the group.
func (g *processGroup) kind(c *call) (k kind, merged bool) {
	switch {
	case c.updated:
		return kinds, false
	case g.role == training.RoleData && !c.tail && c.begun == 0 && gathers(c.op):
		return paramsGather, false
	case (g.role == training.RoleData || g.role == training.RoleExpert && c.op == trace.CollAllreduce) && (c.tail || c.within == backward) &&
		!gathers(c.op):
		return gradsScatter, true
	case !c.tail:
		return kinds, false
	case g.role == training.RoleTensor:
		return layernormReduce, false
	case g.role == training.RoleEmbedding:
		return embeddingReduce, false
	case g.role == training.RoleAll, g.role == training.RoleModel:
		return clip, false
	}
	return kinds, false
}

// message returns what kind a message of the pipeline is: forward if it goes to, or comes from, the neighbor that the forward pass
// leads to, or comes from. The last stage is a neighbor of the first where stages have several chunks. Where both neighbors are one
// stage, the pass tells behind which the message is sent.
func (b *assembly) message(c *call, at coordinate) kind {
	other, known := b.end(c)
	if !known || c.tail {
		return kinds
	}
	ahead := other.stage - at.stage
	if b.chunks > 1 {
		switch ahead {
		case 1 - b.stages:
			ahead = 1
		case b.stages - 1:
			ahead = -1
		}
	}
	if b.both && (ahead == 1 || ahead == -1) {
		if ahead = -1; (c.way == forward) == c.sends {
			ahead = 1
		}
	}
	switch {
	case ahead == 1 && c.sends:
		return forwardSend
	case ahead == -1 && !c.sends:
		return forwardRecv
	case ahead == -1:
		return backwardSend
	case ahead == 1:
		return backwardRecv
	}
	return kinds
}

// end returns where the other end of a message is; known is false if it is not in the grid.
func (b *assembly) end(c *call) (at coordinate, known bool) {
	if c.peer == none || int(c.comm) >= len(b.groups) || int(c.peer) >= len(b.groups[c.comm].ranks) {
		return at, false
	}
	at, known = b.at[b.groups[c.comm].ranks[c.peer]]
	return at, known
}

var phaseKinds = [...]kind{unnamed: forwardCompute, forward: forwardCompute, backward: backwardCompute, weights: weightCompute,
	update: optimizer}

// order keeps the ranks in the grid, in order of their workers.
func (b *assembly) order(ranks []*ranked) {
	b.ranks = slices.DeleteFunc(ranks, func(r *ranked) bool { _, ok := b.at[r.rank]; return !ok })
	slices.SortFunc(b.ranks, func(x, y *ranked) int { return cmp.Compare(b.worker(b.at[x.rank]), b.worker(b.at[y.rank])) })
	for _, r := range b.ranks {
		for _, p := range r.parts {
			b.numbers = append(b.numbers, r.stepOf(p))
		}
		slices.Sort(b.numbers)
		b.numbers = slices.Compact(b.numbers)
	}
}

// each visits the operations of steps, several steps at a time: the i-th of a list of numbers, whose operations are in the order of
// compareOps and valid during the visit.
func (b *assembly) each(ctx context.Context, jobs int, numbers []uint64, visit func(i int, ops []op)) error {
	_, err := engine.Fold(ctx, jobs, len(numbers), func() *maker { return &maker{assembly: b} }, func(m *maker, i int) error {
		visit(i, m.operations(numbers[i]))
		return nil
	}, func(m, _ *maker) *maker { return m })
	return err
}

// operations returns those of a step, valid until the next.
func (b *maker) operations(step uint64) []op {
	b.ops = b.ops[:0]
	for _, r := range b.ranks {
		from := len(b.ops)
		at, _ := slices.BinarySearchFunc(r.parts, step, func(p part, step uint64) int { return cmp.Compare(r.stepOf(p), step) })
		for ; at < len(r.parts) && r.stepOf(r.parts[at]) == step; at++ {
			b.step(r, r.parts[at])
		}
		slices.SortFunc(b.ops[from:], compareOps)
	}
	return b.ops
}

// step makes the operations of a step of a rank. Its first computation may wait for calls of the step before.
func (b *maker) step(r *ranked, p part) {
	at, computations, calls := b.at[r.rank], r.computations[p.computations[0]:p.computations[1]], r.calls[p.calls[0]:p.calls[1]]
	var seq [kinds]uint64
	add := func(k kind, start, end int64, batch uint32, bytes uint64) {
		b.ops = append(b.ops, op{step: computations[0].step, dp: uint32(b.column(at)), stage: uint32(at.stage), rank: r.rank, seq: seq[k],
			start: start, end: end, chunk: none, model: none, batch: batch, kind: k, numbered: true, bytes: bytes, sized: bytes > 0})
		seq[k]++
	}
	if b.hosts && b.stages > 1 && b.chunks == 1 {
		computations = b.passes(at, computations, calls)
	}
	b.windows = b.windows[:0]
	first := int(p.calls[0]) // of the step, or of those of the step before that still go on
	for first > 0 && r.calls[first-1].step+1 == computations[0].step && r.calls[first-1].end > computations[0].from {
		first--
	}
	for i := first; i < int(p.calls[1]); i++ {
		c := &r.calls[i]
		window := [2]int64{b.awaited(r, c), c.end}
		if k, _ := b.kind(c, at); k == kinds && c.peer == none && (int(c.comm) >= len(b.groups) || !b.groups[c.comm].lacks) {
			window[1] = max(c.start, min(c.end, b.met[c.instance()].latest))
		}
		b.windows = append(b.windows, window)
	}
	waits := joined(b.windows)
	last := int64(math.MinInt64) // end of the passes
	for i := range computations {
		c := &computations[i]
		add(phaseKinds[c.phase], c.from+waited(r.gaps[c.gaps[0]:c.gaps[1]], waits), c.to, c.batch, 0)
		if c.phase != update {
			last = max(last, c.to)
		}
	}
	if b.chunks > 1 {
		b.chunked(r, at, len(computations), calls, &seq)
	}
	reduced := -1 // the operation of merged calls
	for i := range calls {
		c := &calls[i]
		k, merged := b.kind(c, at)
		start := b.asked(r, c)
		switch {
		case k == kinds, b.chunks > 1 && k >= forwardSend && k <= backwardRecv: // which are there
		case !merged:
			add(k, start, c.end, none, c.bytes)
			if b.chunks > 1 && k == paramsGather {
				b.ops[len(b.ops)-1].chunk = 0 // the first computation waits for it
			}
		case reduced < 0: // what the backward pass hides does not count
			add(k, max(c.start, last), max(c.end, last), none, c.bytes)
			reduced = len(b.ops) - 1
		default:
			o := &b.ops[reduced]
			o.start, o.end = min(o.start, max(c.start, last)), max(o.end, c.end)
			o.bytes, o.sized = o.bytes+c.bytes, o.sized && c.bytes > 0
		}
	}
}

// passes returns the computations of a step of a host of a pipeline, where nothing names micro-batches: what the host does between two
// calls for messages is a forward pass if it has received for it, or, on the first stage, if it sends it on. Else it is of what follows.
func (b *maker) passes(at coordinate, computations []computation, calls []call) []computation {
	is := make([]bool, len(computations))
	for i := range calls {
		n := calls[i].begun // of the computation behind it
		switch k, _ := b.kind(&calls[i], at); {
		case k == forwardRecv && at.stage > 0:
		case k == forwardSend && at.stage == 0:
			n--
		default:
			continue
		}
		if n >= 0 && int(n) < len(is) {
			is[n] = true
		}
	}
	out := make([]computation, 0, len(computations))
	for i, c := range computations {
		if c.batch != none {
			return computations
		}
		if n := len(out); n > 0 && out[n-1].phase == unnamed {
			c.from, c.gaps[0] = out[n-1].from, out[n-1].gaps[0]
			out = out[:n-1]
		}
		if c.phase == forward && !is[i] && i+1 < len(computations) {
			c.phase = unnamed
		}
		out = append(out, c)
	}
	return out
}

// asked returns from when on a call keeps its rank waiting for others. A send lasts as its receive lets it.
func (b *maker) asked(r *ranked, c *call) int64 {
	if c.sends {
		return c.start
	}
	return b.awaited(r, c)
}

// awaited returns from when on a rank may wait for the end of a call. Hosts ask for a message before they need it, and go on computing: it
// lasts until they wait for it, and how early it was there is not recorded.
func (b *maker) awaited(r *ranked, c *call) int64 {
	if !b.hosts || c.peer == none {
		return c.start
	}
	i, _ := slices.BinarySearchFunc(r.gaps, c.end, func(gap [2]int64, t int64) int { return cmp.Compare(gap[1], t) })
	if i == len(r.gaps) || r.gaps[i][0] > c.end {
		return c.end
	}
	return max(c.start, r.gaps[i][0])
}

// joined returns the union of stretches of time.
func joined(list [][2]int64) [][2]int64 {
	slices.SortFunc(list, func(a, b [2]int64) int { return cmp.Compare(a[0], b[0]) })
	n := 0
	for _, v := range list {
		if n > 0 && v[0] <= list[n-1][1] {
			list[n-1][1] = max(list[n-1][1], v[1])
			continue
		}
		list[n] = v
		n++
	}
	return list[:n]
}

// waited returns how long a computation waits in its gaps.
func waited(gaps, waits [][2]int64) (sum int64) {
	for _, gap := range gaps {
		for from, to := range within(waits, gap[0], gap[1]) {
			sum += to - from
		}
	}
	return sum
}

// within returns the parts of a stretch of time that a union of others holds.
func within(union [][2]int64, from, to int64) iter.Seq2[int64, int64] {
	return func(yield func(from, to int64) bool) {
		i, _ := slices.BinarySearchFunc(union, from, func(v [2]int64, t int64) int { return cmp.Compare(v[1], t+1) })
		for ; i < len(union) && union[i][0] < to; i++ {
			if !yield(max(from, union[i][0]), min(to, union[i][1])) {
				return
			}
		}
	}
}

// sum returns a number that steps have in common whose workers do the same.
func sum(ops []op) uint64 {
	h := fnv.New64a()
	var raw [12]byte
	for i := range ops {
		binary.LittleEndian.PutUint32(raw[:], ops[i].dp)
		binary.LittleEndian.PutUint32(raw[4:], ops[i].stage)
		binary.LittleEndian.PutUint32(raw[8:], uint32(ops[i].kind))
		h.Write(raw[:])
	}
	return h.Sum64()
}

// learned returns a job without steps, whose structure is that of a step.
func (b *assembly) learned(step uint64, tick float64) (*job, error) {
	j := &job{lanes: 1}
	ops := (&maker{assembly: b}).operations(step) // the workers of all steps are the same
	if err := j.find(ops); err != nil {
		return nil, err
	}
	j.learn(j.whole(ops), tick)
	return j, nil
}

// job makes the job of the steps that are most alike in what their workers do. Mostly these are all: the structure of the first is tried.
func (b *assembly) job(ctx context.Context, jobs int, tick float64) (*job, error) {
	if len(b.numbers) == 0 {
		j := &job{lanes: 1}
		return j, j.known()
	}
	j, wrong := b.learned(b.numbers[0], tick)
	sums, steps := make([]uint64, len(b.numbers)), make([]*recordedStep, len(b.numbers))
	if err := b.each(ctx, jobs, b.numbers, func(i int, ops []op) {
		if sums[i] = sum(ops); wrong == nil {
			steps[i] = j.step(j.whole(ops), tick)
		}
	}); err != nil {
		return nil, err
	}
	best, counts := sums[0], make(map[uint64]int)
	for _, s := range sums {
		counts[s]++
	}
	for _, s := range sums {
		if counts[s] > counts[best] {
			best = s
		}
	}
	var kept []uint64
	n := 0
	for i, s := range sums {
		if s == best {
			kept, steps[n] = append(kept, b.numbers[i]), steps[i]
			n++
		}
	}
	steps = steps[:n]
	if best != sums[0] {
		if j, wrong = b.learned(kept[0], tick); wrong == nil {
			if err := b.each(ctx, jobs, kept, func(i int, ops []op) { steps[i] = j.step(j.whole(ops), tick) }); err != nil {
				return nil, err
			}
		}
	}
	if wrong != nil {
		return nil, wrong
	}
	j.leftOut = len(b.numbers) - len(kept)
	for _, s := range steps {
		j.add(s)
	}
	return j, j.known()
}

// couple notes which workers compute together. Those of columns that the job does not have are left out.
func (j *job) couple(coupled []int32, stages int) {
	j.coupled = make([]int32, j.dps*j.stages)
	for i, column := range j.dpNumbers {
		for s := range j.stages {
			j.coupled[i*j.stages+s] = first(coupled, int32(int(column)*stages+s))
		}
	}
}
