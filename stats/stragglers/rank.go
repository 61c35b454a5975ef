package stragglers

import (
	"cmp"
	"context"
	"math"
	"slices"
	"sync"

	"tracekit/stats/numbers"
	"tracekit/trace"
)

// A call is a communication of a rank: an operation of a communicator, or a message.
//
//	begun is how many computations of the step had begun when it was launched
//	number is that of the collective on its communicator in the step
//	peer is the rank in the communicator; none: a collective
type call struct {
	start, end int64
	bytes      uint64
	step       uint64
	begun      int32
	number     int32
	comm       trace.CommID
	peer       uint32
	within     phase // of the computation that was launched before it, of its step
	way        phase // of a message: forward or backward, where only the pass of its sender tells
	op         trace.CollectiveOp
	sends      bool
	tail       bool // launched behind the last backward computation
	updated    bool // launched once the optimizer had begun
}

// A computation is what a rank computes between two points at which it changes to another phase or micro-batch, or communicates along
// the pipeline. It lasts from the end of the computation before it, or from the begin of the step, to its own end; in gaps nothing
// was computed although a communication went on.
type computation struct {
	from, to int64
	least    int64 // the first of a step may last from there on: the rank has ended its work of the step before
	step     uint64
	phase    phase
	batch    uint32
	gaps     [2]int32 // in those of the rank
}

// A ranked is what is known of a rank: its computations and calls, in the order in which they were launched.
type ranked struct {
	rank         uint32
	computations []computation
	calls        []call
	gaps         [][2]int64
	parts        []part
	named        [update + 1]bool // phases that are recorded
	marks        stepMark         // by which steps are known
	steps        int
	updates      []int64 // ends of the optimizer's annotations
	stage        uint32  // the first of the model's whose passes are named; none: none is
	nameless     int     // collectives and messages whose group is not known
	aimless      int     // messages whose other end is not recorded
	kernels      int     // that were read
	unlinked     int     // kernels without a launch
}

// A part is the computations of a step of a rank, and its calls: where each begin and end.
type part struct{ computations, calls [2]int32 }

// A profiler reads what a profiler has recorded.
type profiler struct {
	src         trace.Source
	meanings    []meaning // by region; the last is that of regions that are not defined
	works       []trace.DeviceWork
	correlation trace.AttributeID
	pausing     [2]uint64 // strings: the names of the instants at which the recording pauses and goes on; 2^64-1: it does not
	unused      sync.Pool // of readings
}

func newProfiler(src trace.Source) *profiler {
	d := src.Defs()
	p := &profiler{src: src, meanings: make([]meaning, len(d.Regions)+1), works: append(d.DeviceWorks(), trace.DeviceIdle),
		correlation: d.AttributeByName(trace.AttributeCorrelation)}
	for i, name := range [...]string{trace.InstantPause, trace.InstantResume} {
		p.pausing[i] = uint64(slices.Index(d.Strings, name))
	}
	for i := range d.Regions {
		p.meanings[i] = meaningOf(d.RegionName(trace.RegionID(i)), d.String(d.Regions[i].Description))
	}
	p.meanings[len(d.Regions)] = meaning{batch: none, stage: none}
	return p
}

// A launch is what the host says about a piece of work: when it was launched, and in which phase.
type launch struct {
	time  int64
	phase phase
	batch uint32
}

// A numbered is a launch by its correlation.
type numbered struct {
	id uint64
	launch
}

// A work is a kernel, or a communication, which has a call.
type work struct {
	launch
	start, end int64
	call       int32 // in calls; -1: it computes
}

// A stretch is time that belongs to a step or phase.
type stretch struct {
	from, to int64
	launch
	step uint64
}

// A reading is what the locations of a rank hold.
type reading struct {
	*profiler
	launches []numbered // of the host; ascending once it is read
	near     int        // in launches: where the last one was found
	named    []stretch  // phases
	ops      []stretch  // operators of the host, unless they communicate
	waits    []stretch  // those that do, within others
	steps    [profilerStep + 1][]stretch
	pauses   []stretch // in which nothing is recorded
	work     []work
	calls    []call
	open     []int32 // calls of frames that are not left, the outermost first
	stage    uint32  // as of ranked
	nameless int
	aimless  int
	unlinked int
	kernels  int
	device   bool

	scratch ranked // whose lists are used again
	next    map[sequence]int32
}

// A sequence is the collectives of a communicator in a step.
type sequence struct {
	step uint64
	comm trace.CommID
}

// rank reads the locations of a rank: those of its processes, then those of its accelerators.
func (p *profiler) rank(ctx context.Context, rank uint32, locations []trace.LocationID) (*ranked, error) {
	r, _ := p.unused.Get().(*reading)
	if r == nil {
		r = &reading{profiler: p, stage: none, next: make(map[sequence]int32)}
	}
	d := p.src.Defs()
	for _, device := range []bool{false, true} {
		r.launches = numbers.SortRuns(r.launches, func(a, b *numbered) bool { return a.id < b.id })
		for _, l := range locations {
			if (d.Locations[l].Kind == trace.LocationGPU) != device {
				continue
			}
			if err := r.location(ctx, l, device); err != nil {
				return nil, err
			}
		}
	}
	out := r.sum(rank)
	r.reset()
	p.unused.Put(r)
	return out, nil
}

// reset forgets the rank, but keeps the memory for the next one.
func (r *reading) reset() {
	steps := r.steps
	for i := range steps {
		steps[i] = steps[i][:0]
	}
	*r = reading{profiler: r.profiler, stage: none, launches: r.launches[:0], named: r.named[:0], ops: r.ops[:0], waits: r.waits[:0],
		steps: steps, pauses: r.pauses[:0], work: r.work[:0], calls: r.calls[:0], open: r.open[:0], scratch: r.scratch, next: r.next}
}

// A frame is a region that is entered and not left.
type frame struct {
	start int64
	launch
	work   trace.DeviceWork
	linked bool
	begins bool  // the phase
	op     bool  // within an operator of the host
	opens  bool  // the outermost of them
	named  int32 // in meanings
	calls  int32 // where its calls begin in open; a kernel may have several messages
}

// location reads a location.
func (r *reading) location(ctx context.Context, l trace.LocationID, device bool) error {
	var stack trace.CallStack[frame]
	waiting := false // what is read last is the end of a wait
	r.open = r.open[:0]
	for b, err := range r.src.Events(ctx, l) {
		if err != nil {
			return err
		}
		r.paused(b)
		attr, coll, message := 0, 0, 0
		communicated := func(before uint64) {
			for ; coll < len(b.Coll.Seq) && b.Coll.Seq[coll] < before; coll++ {
				r.collective(b, coll, stack.Top())
			}
			for ; message < len(b.P2P.Seq) && b.P2P.Seq[message] < before; message++ {
				r.message(b, message, stack.Top())
			}
		}
		for i, seq := range b.Flow.Seq {
			if coll < len(b.Coll.Seq) || message < len(b.P2P.Seq) {
				communicated(seq)
			}
			if waiting { // for what it has asked for, until another operator begins
				r.waits[len(r.waits)-1].to = b.Flow.Time[i]
			}
			had := len(r.waits)
			if b.Flow.Kind[i] == trace.KindLeave {
				for n := stack.Leave(b.Flow.Region[i]); n > 0; n-- { // all but the last were never left
					f := stack.Top()
					if n == 1 {
						r.left(f, r.open[f.calls:], b.Flow.Time[i], device)
					}
					r.open = r.open[:f.calls]
					stack.Drop()
				}
				waiting = len(r.waits) > had
				continue
			}
			for attr < len(b.Attrs.Seq) && b.Attrs.Seq[attr] < seq {
				attr++
			}
			outer := launch{batch: none}
			op := false
			if top := stack.Top(); top != nil {
				outer.phase, outer.batch, op = top.phase, top.batch, top.op
			}
			f := stack.Push(b.Flow.Region[i])
			f.launch, f.op, f.calls = outer, op, int32(len(r.open))
			r.entered(f, b, i, attr, device)
			waiting = false
		}
		communicated(math.MaxUint64)
	}
	return nil
}

// paused takes the times in which nothing is recorded.
func (r *reading) paused(b *trace.Batch) {
	o := &b.Other
	for i, k := range o.Kind {
		if k != trace.KindInstant {
			continue
		}
		switch at, name := o.Time[i], o.Args[o.Offset[i]]; {
		case name == r.pausing[0]:
			r.pauses = append(r.pauses, stretch{from: at, to: at})
		case name == r.pausing[1] && len(r.pauses) > 0:
			r.pauses[len(r.pauses)-1].to = at
		}
	}
}

// collective takes a row of a collective within a frame.
func (r *reading) collective(b *trace.Batch, i int, within *frame) {
	switch {
	case within == nil || b.Coll.Kind[i] != trace.KindCollectiveEnd:
	case b.Coll.Comm[i] == trace.None:
		r.nameless++
	default:
		r.called(call{comm: b.Coll.Comm[i], op: b.Coll.Op[i], peer: none, bytes: max(b.Coll.Sent[i], b.Coll.Received[i])})
	}
}

// message takes a row of a message within a frame.
func (r *reading) message(b *trace.Batch, i int, within *frame) {
	k := b.P2P.Kind[i]
	sends := k == trace.KindMpiSend || k == trace.KindMpiIsend
	switch {
	case within == nil || !sends && k != trace.KindMpiRecv && k != trace.KindMpiIrecv:
	case b.P2P.Comm[i] == trace.None:
		r.nameless++
	default:
		r.called(call{comm: b.P2P.Comm[i], peer: b.P2P.Peer[i], sends: sends, bytes: b.P2P.Bytes[i]})
	}
}

// called adds a call of the innermost frame.
func (r *reading) called(c call) {
	r.calls = append(r.calls, c)
	r.open = append(r.open, int32(len(r.calls)-1))
}

// entered completes the frame of an Enter in row i, whose attributes begin at a row. It has the phase of the frame around it.
func (r *reading) entered(f *frame, b *trace.Batch, i, attr int, device bool) {
	f.start = b.Flow.Time[i]
	f.named = int32(min(int(b.Flow.Region[i]), len(r.meanings)-1))
	f.work = r.works[f.named]
	named := &r.meanings[f.named]
	if named.op && !f.op && !device {
		f.op, f.opens = true, true
	}
	// What is computed again during the backward pass is a part of it; gradients of weights may be named within it.
	if p := named.phase; p != unnamed && p != f.phase && (f.phase <= forward || f.phase == backward && p == weights) {
		f.phase, f.batch, f.begins = p, named.batch, true
	} else if p == f.phase && named.batch != none {
		f.batch, f.begins = named.batch, true
	}
	for ; attr < len(b.Attrs.Seq) && b.Attrs.Seq[attr] == b.Flow.Seq[i]; attr++ {
		if b.Attrs.Attribute[attr] != r.correlation {
			continue
		}
		if id := b.Attrs.Value[attr]; !device {
			r.launches = append(r.launches, numbered{id, launch{f.start, f.phase, f.batch}})
		} else if found := r.launched(id); found != nil {
			f.launch, f.linked = *found, true
		}
	}
}

// launched returns the launch of a correlation, of several the last that was read; nil if there is none.
func (r *reading) launched(id uint64) *launch {
	r.near = numbers.Seek(r.launches, r.near, func(n *numbered) bool { return n.id <= id })
	if r.near == 0 || r.launches[r.near-1].id != id {
		return nil
	}
	return &r.launches[r.near-1].launch
}

// left takes a region that is left, and its calls.
func (r *reading) left(f *frame, calls []int32, end int64, device bool) {
	named := &r.meanings[f.named]
	if by := named.stepBy; by != noStep && !device {
		r.steps[by] = append(r.steps[by], stretch{from: f.start, to: end, step: named.step})
	}
	if f.begins && !device {
		r.named = append(r.named, stretch{from: f.start, to: end, launch: f.launch})
		r.stage = min(r.stage, named.stage)
	}
	if f.opens {
		r.ops = append(r.ops, stretch{from: f.start, to: end, launch: f.launch})
	}
	if named.waits && f.op && !device {
		r.waits = append(r.waits, stretch{from: f.start, to: end})
	}
	if !f.linked {
		f.time = f.start
	}
	switch {
	case named.sent && len(calls) == 0:
		r.aimless++
	case len(calls) > 0:
		if !device || !f.linked {
			f.launch = launch{f.start, unnamed, none} // who calls for the host is a thread of its own
		}
		for _, c := range calls {
			r.calls[c].start, r.calls[c].end = f.start, end
			r.work = append(r.work, work{f.launch, f.start, end, c})
		}
	case device && (f.work == trace.DeviceCompute || f.work == trace.DeviceMemory):
		r.device = true
		r.kernels++
		if !f.linked {
			r.unlinked++
		}
		r.work = append(r.work, work{f.launch, f.start, end, -1})
	}
}

// outermost drops stretches within others, and sorts them.
func outermost(list []stretch) []stretch {
	list = numbers.SortRuns(list, func(a, b *stretch) bool { return a.from < b.from || a.from == b.from && a.to > b.to })
	end := int64(math.MinInt64)
	return slices.DeleteFunc(list, func(s stretch) bool {
		inside := s.to <= end
		end = max(end, s.to)
		return inside
	})
}

// endsAfter finds the first stretch that ends after a time.
func endsAfter(s stretch, t int64) int { return cmp.Compare(s.to, t+1) }

// at returns the last stretch that holds a time, nil if there is none.
func at(list []stretch, t int64) *stretch {
	i, found := slices.BinarySearchFunc(list, t, func(s stretch, t int64) int { return cmp.Compare(s.from, t) })
	if !found {
		i--
	}
	if i < 0 || t >= list[i].to {
		return nil
	}
	return &list[i]
}

// sum makes computations and calls of what was read.
func (r *reading) sum(rank uint32) *ranked {
	out := &ranked{rank: rank, stage: r.stage, nameless: r.nameless, aimless: r.aimless, kernels: r.kernels, unlinked: r.unlinked,
		computations: r.scratch.computations[:0], calls: r.scratch.calls[:0],
		gaps: r.scratch.gaps[:0], parts: r.scratch.parts[:0]}
	phases := r.joined(outermost(r.named))
	for _, s := range phases {
		out.named[s.phase] = true
		if s.phase == update {
			out.updates = append(out.updates, s.to)
		}
	}
	var steps []stretch
	for by := profilerStep; by > noStep && len(steps) == 0; by-- {
		if steps = outermost(r.steps[by]); len(steps) > 0 {
			out.marks = by
		}
	}
	for i := range steps {
		if out.marks == servedStep { // in their order
			steps[i].step = uint64(i)
		}
	}
	switch {
	case r.device:
	case len(steps) > 0:
		r.host(phases, steps)
	default:
		r.host(phases, []stretch{r.whole(phases)})
	}
	for i := range r.work {
		w := &r.work[i]
		if w.phase == unnamed {
			if s := at(phases, w.time); s != nil {
				w.phase, w.batch = s.phase, s.batch
			}
		}
	}
	r.work = byLaunch(r.work)
	if len(steps) == 0 {
		steps = r.between(out.updates)
	}
	if len(steps) == 0 {
		steps = r.repeated()
	}
	out.steps = len(steps)
	s := &stepper{reading: r, out: out}
	for i := range steps {
		first, _ := slices.BinarySearchFunc(r.work, steps[i].from, func(w work, t int64) int { return cmp.Compare(w.time, t) })
		last, _ := slices.BinarySearchFunc(r.work, steps[i].to, func(w work, t int64) int { return cmp.Compare(w.time, t) })
		follows := i > 0 && steps[i].step == steps[i-1].step+1
		if !follows { // it begins when the device has done what was launched before
			s.after(r.work[:first], steps[i].to)
		}
		s.step(&steps[i], follows, r.work[first:max(first, last)])
	}
	clear(r.next)
	out.part(r.next)
	r.scratch = *out
	out.computations, out.calls, out.gaps, out.parts = slices.Clone(out.computations), slices.Clone(out.calls), slices.Clone(out.gaps),
		slices.Clone(out.parts)
	return out
}

// part finds the steps of a rank, by number, and numbers their collectives. next is empty.
func (r *ranked) part(next map[sequence]int32) {
	calls := 0
	for first := 0; first < len(r.computations); {
		step, end := r.computations[first].step, first
		for end < len(r.computations) && r.computations[end].step == step {
			end++
		}
		for calls < len(r.calls) && r.calls[calls].step != step {
			calls++ // of a step without computations
		}
		from := calls
		for calls < len(r.calls) && r.calls[calls].step == step {
			calls++
		}
		r.parts = append(r.parts, part{[2]int32{int32(first), int32(end)}, [2]int32{int32(from), int32(calls)}})
		first = end
	}
	slices.SortStableFunc(r.parts, func(a, b part) int { return cmp.Compare(r.stepOf(a), r.stepOf(b)) })
	for i := range r.calls {
		c := &r.calls[i]
		id := sequence{c.step, c.comm}
		if c.number = next[id]; c.peer == none {
			next[id]++
		}
	}
}

// stepOf returns the step of a part.
func (r *ranked) stepOf(p part) uint64 { return r.computations[p.computations[0]].step }

// byLaunch sorts work by launch. Each stream is in order, or nearly so.
func byLaunch(list []work) []work {
	return numbers.SortRuns(list, func(a, b *work) bool {
		switch {
		case a.time != b.time:
			return a.time < b.time
		case a.start != b.start:
			return a.start < b.start
		}
		return a.call < b.call
	})
}

// joined joins stretches of one phase without a number between which no other operator begins.
func (r *reading) joined(phases []stretch) []stretch {
	r.ops = outermost(r.ops)
	n, op := 0, 0
	for i, s := range phases {
		between := false
		if n > 0 {
			for ; op < len(r.ops) && r.ops[op].from < s.from; op++ {
				between = between || r.ops[op].from >= phases[n-1].to && r.ops[op].phase != s.phase
			}
			if last := &phases[n-1]; !between && last.phase == s.phase && last.batch == none && s.batch == none {
				last.to = s.to
				continue
			}
		}
		phases[n] = phases[i]
		n++
	}
	return phases[:n]
}

// whole returns the time from the first to the last of what was read.
func (r *reading) whole(phases []stretch) stretch {
	out := stretch{from: math.MaxInt64, to: math.MinInt64}
	for _, list := range [][]stretch{phases, r.ops} {
		for i := range list {
			out.from, out.to = min(out.from, list[i].from), max(out.to, list[i].to)
		}
	}
	return out
}

// host makes work of a rank without an accelerator: its operators, by the phases in which they run; what a step has besides is
// of the forward pass or, where micro-batches are named, of the phase before. A phase lasts until its end, whatever runs last.
func (r *reading) host(phases, steps []stretch) {
	ops := cut(r.ops, outermost(r.waits))
	add := func(from, to int64, l launch) {
		mark := func(at, time int64) {
			l.time = time
			r.work = append(r.work, work{l, at, at, -1})
		}
		if to <= from {
			return
		}
		mark(from, from)
		i, _ := slices.BinarySearchFunc(ops, from, endsAfter)
		for ; i < len(ops) && ops[i].from < to; i++ {
			l.time = max(ops[i].from, from)
			r.work = append(r.work, work{l, l.time, min(ops[i].to, to), -1})
		}
		mark(to, to-1)
	}
	for _, s := range steps {
		at := s.from
		first, _ := slices.BinarySearchFunc(phases, s.from, endsAfter)
		last, _ := slices.BinarySearchFunc(phases, s.to, func(p stretch, t int64) int { return cmp.Compare(p.from, t) })
		inside := phases[first:max(first, last)]
		other := launch{batch: none}
		named := slices.ContainsFunc(inside, func(p stretch) bool { return p.phase == forward && p.batch != none })
		if named {
			other = inside[0].launch
		}
		for _, p := range inside {
			add(at, min(p.from, s.to), other)
			add(max(p.from, s.from), min(p.to, s.to), p.launch)
			at = max(at, p.to)
			if named {
				other = p.launch
			}
		}
		add(at, s.to, other)
	}
}

// cut takes parts out of stretches. Both are in order, and none overlaps another of its list.
func cut(list, parts []stretch) (out []stretch) {
	if len(parts) == 0 {
		return list
	}
	for _, s := range list {
		for len(parts) > 0 && parts[0].to <= s.from {
			parts = parts[1:]
		}
		for _, p := range parts {
			if p.from >= s.to {
				break
			}
			if p.from > s.from {
				before := s
				before.to = p.from
				out = append(out, before)
			}
			s.from = min(p.to, s.to)
		}
		if s.from < s.to {
			out = append(out, s)
		}
	}
	return out
}

// between returns the steps that end with what the optimizer does. Behind a pause a step begins with the recording, unless it began before.
func (r *reading) between(ends []int64) (steps []stretch) {
	number := uint64(0)
	for i := 1; i < len(ends); i++ {
		s := stretch{from: ends[i-1], to: ends[i], step: number}
		number++
		at, _ := slices.BinarySearchFunc(r.pauses, s.from, func(p stretch, t int64) int { return cmp.Compare(p.to, t) })
		if at < len(r.pauses) && r.pauses[at].from < s.to {
			if r.launchedWithin(s.from, r.pauses[at].from) {
				number++ // it is not recorded whole
				continue
			}
			s.from, s.step = r.pauses[at].to, number // what is before it is not the step before
			number++
		}
		steps = append(steps, s)
	}
	return steps
}

// launchedWithin reports whether work is launched behind a time and before another.
func (r *reading) launchedWithin(from, to int64) bool {
	i, _ := slices.BinarySearchFunc(r.work, from+1, func(w work, t int64) int { return cmp.Compare(w.time, t) })
	return i < len(r.work) && r.work[i].time < to
}

// repeated returns the steps that communication repeats: the shortest sequence of calls that all calls are made of, behind those that
// come before. Where backward passes are recorded a step has one that something else follows: calls within a pass are no steps.
func (r *reading) repeated() (steps []stretch) {
	type token struct {
		comm  trace.CommID
		op    trace.CollectiveOp
		peer  uint32
		bytes uint64
		sends bool
		turns bool // a backward pass has ended since the call before
	}
	var tokens []token
	var after, turns []int // in work: what follows the call before; where something follows the backward pass, or else the same
	next, turn, backwards := 0, -1, false
	for i, w := range r.work {
		if w.call < 0 {
			was := backwards
			if backwards = w.phase == backward || w.phase == weights; was && !backwards {
				turn = i
			}
			continue
		}
		c := &r.calls[w.call]
		tokens = append(tokens, token{c.comm, c.op, c.peer, c.bytes, c.sends, turn >= 0})
		if after = append(after, next); turn < 0 {
			turn = next
		}
		turns, next, turn = append(turns, turn), i+1, -1
	}
	period := periodOf(tokens)
	if period == 0 {
		return nil
	}
	first, begins := len(tokens)%period, after
	once := func(t token) bool { return t.turns }
	if n := slices.IndexFunc(tokens[first:], once); n >= 0 && n < period && !slices.ContainsFunc(tokens[first+n+1:first+period], once) {
		first, begins = first+n, turns
	}
	for k := first; k+period <= len(tokens); k += period {
		end := r.work[len(r.work)-1].time + 1
		if k+period < len(tokens) {
			end = r.work[begins[k+period]].time
		}
		steps = append(steps, stretch{from: r.work[begins[k]].time, to: end, step: uint64((k - first) / period)})
	}
	return steps
}

// periodOf returns after how many elements the last ones repeat, over two thirds of a sequence and at least twice; 0: they do not.
func periodOf[T comparable](v []T) int {
	n := len(v)
	reversed := slices.Clone(v)
	slices.Reverse(reversed)
	// z[i] is how long what begins at i is like the begin.
	z, from, to := make([]int, n), 0, 0
	for i := 1; i < n; i++ {
		if i < to {
			z[i] = min(to-i, z[i-from])
		}
		for i+z[i] < n && reversed[z[i]] == reversed[i+z[i]] {
			z[i]++
		}
		if i+z[i] > to {
			from, to = i, i+z[i]
		}
	}
	for p := 1; 2*p <= n; p++ {
		if z[p]+p >= max(2*p, (2*n+2)/3) {
			return p
		}
	}
	return 0
}

// A stepper makes computations and calls of the work of steps, one after the other.
type stepper struct {
	*reading
	out     *ranked
	busy    int64      // until when the rank has computed
	least   int64      // from when on its next computation may last
	calling [][2]int64 // when calls of the step go on, or those of the step before still do
}

// step takes the work of a step, in order of its launch. Where it follows the step before, what it computes first may last from the end of
// that one's work on: what the host does then makes it late.
func (s *stepper) step(of *stretch, follows bool, list []work) {
	last, optimizing := -1, len(list)
	for i, w := range list {
		if w.call >= 0 {
			continue
		}
		if w.phase == backward || w.phase == weights {
			last = i
		}
	}
	for i, w := range list {
		if i > last && w.call < 0 && w.phase == update {
			optimizing = min(optimizing, i)
		}
	}
	if s.least = s.busy; !follows {
		s.least = max(s.busy, of.from)
	}
	s.busy, s.calling = max(s.busy, of.from), union(s.lasting(max(s.busy, of.from)), list)
	first := len(s.out.computations)
	messages, seen := 0, 0 // sends and receives so far, and when the computation began
	var members []work
	launched := int64(0) // when the first collective behind all members was
	flush := func() {
		if len(members) > 0 {
			s.finish(&s.out.computations[len(s.out.computations)-1], members, launched)
			members, launched = members[:0], 0
		}
	}
	for i, w := range list {
		if w.call >= 0 {
			c := s.calls[w.call]
			c.step, c.begun = of.step, int32(len(s.out.computations)-first)
			c.tail, c.updated = last >= 0 && i > last, i > optimizing
			if c.peer != none { // the last message of the pipeline follows the last computation
				c.tail = c.updated
			}
			if n := len(s.out.computations); n > first {
				c.within = s.out.computations[n-1].phase
			}
			if c.peer != none {
				messages++
			} else if s.device && launched == 0 && w.time < w.start { // else its launch is not known
				launched = w.time
			}
			s.out.calls = append(s.out.calls, c)
			continue
		}
		p := w.phase
		switch {
		case last >= 0 && i > last || p == update:
			p = update
		case p == unnamed:
			p = forward
		}
		splits := messages > seen && (s.device || w.batch == none)
		if n := len(s.out.computations); n == first || s.out.computations[n-1].phase != p || p != update && (splits ||
			w.batch != none && s.out.computations[n-1].batch != none && w.batch != s.out.computations[n-1].batch) {
			flush()
			s.out.computations = append(s.out.computations, computation{step: of.step, phase: p, batch: w.batch})
			seen = messages
		}
		members, launched = append(members, w), 0
	}
	flush()
}

// finish finds how long a computation lasts, and when nothing was computed in that time although something was communicated. It lasts at
// least until the host has launched the collective that follows it.
func (s *stepper) finish(c *computation, members []work, launched int64) {
	slices.SortFunc(members, func(a, b work) int { return cmp.Compare(a.start, b.start) })
	c.from, c.to, c.least = s.busy, s.busy, min(s.least, s.busy)
	c.gaps[0] = int32(len(s.out.gaps))
	for _, w := range members {
		if w.start > c.to {
			s.gap(c.to, w.start)
		}
		c.to = max(c.to, w.end)
	}
	if launched > c.to {
		s.gap(c.to, launched)
		c.to = launched
	}
	s.busy, s.least, c.gaps[1] = c.to, c.to, int32(len(s.out.gaps))
}

// gap notes the parts of a gap in which calls go on.
func (s *stepper) gap(from, to int64) {
	for from, to := range within(s.calling, from, to) {
		s.out.gaps = append(s.out.gaps, [2]int64{from, to})
	}
}

// after notes that the rank computes until all of a list is done, which was launched before a step that has ended at a time.
func (s *stepper) after(list []work, ended int64) {
	for _, w := range list {
		if w.call < 0 && w.end < ended {
			s.busy = max(s.busy, w.end)
		}
	}
}

// lasting returns when calls of the step before go on behind a time.
func (s *stepper) lasting(t int64) [][2]int64 {
	return slices.DeleteFunc(s.calling, func(v [2]int64) bool { return v[1] <= t })
}

// union adds to a list when any of the calls of a step goes on.
func union(out [][2]int64, list []work) [][2]int64 {
	for _, w := range list {
		if w.call >= 0 {
			out = append(out, [2]int64{w.start, w.end})
		}
	}
	return joined(out)
}
