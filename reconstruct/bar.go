package reconstruct

import (
	"tracekit/engine"
	"tracekit/plots"
	"tracekit/reduce/pattern"
	"tracekit/stats"
	"tracekit/trace"
)

// A lane takes what a rank did, in order of time; see plots.Lane.
type lane interface {
	Segment(start, end int64, category int, kind plots.Kind)
}

// A bar follows the call stack of one location and feeds its lane of the diagram. Times in
// it are corrected ticks.
type bar struct {
	d     *diagram
	l     trace.LocationID
	lane  lane
	stack trace.CallStack[visit]
	below int   // regions entered below the deepest visit
	call  int   // row of the location's calls that comes next
	now   int64 // up to here the lane is fed
	times []int64
	last  int64             // time of the last event
	cut   []pattern.Stretch // from now on: the lane is empty there
}

// A visit is a region that is entered and not left.
type visit struct {
	wait   stats.CallWait
	blocks bool // the call can block
}

func newBar(d *diagram, l trace.LocationID, lane lane) *bar {
	first := d.start
	if s := d.t.Span[l]; s.Events > 0 {
		first = s.First
	}
	return &bar{d: d, l: l, lane: lane, now: first, last: first, cut: d.cut[l]}
}

// run draws all events.
func (b *bar) run(batches engine.Batches) error {
	for batch, err := range batches {
		if err != nil {
			return err
		}
		b.add(batch)
	}
	if s := b.d.t.Span[b.l]; s.Events > 0 {
		b.fill(s.Last)
	}
	return nil
}

func (b *bar) add(batch *trace.Batch) {
	f := &batch.Flow
	b.times = append(b.times[:0], f.Time...)
	b.last = b.d.t.Clock.Maps[b.l].Correct(b.times, b.last)
	for i, t := range b.times {
		if f.Kind[i].Enters() {
			b.enter(t, f.Region[i], f.Seq[i])
		} else {
			b.leave(t, f.Region[i])
		}
	}
}

// fill draws what the location does from now to t.
func (b *bar) fill(t int64) {
	v := b.stack.Top()
	if t <= b.now || v == nil {
		b.now = max(b.now, t)
		return
	}
	if w := &v.wait; w.Time > 0 {
		b.own(min(t, w.From), v)
		b.segment(min(t, w.From+w.SenderTime), b.d.colors.wait(stats.LateSender), plots.Wait)
		b.segment(min(t, w.From+w.Time), b.d.colors.wait(w.Kind), plots.Wait)
	}
	b.own(t, v)
}

// own draws up to end what the innermost region does itself.
func (b *bar) own(end int64, v *visit) {
	kind := plots.Code
	if v.blocks {
		kind = plots.Blocked
	}
	b.segment(end, b.d.colors.of(b.stack.Region(b.stack.Len()-1)), kind)
}

func (b *bar) segment(end int64, category int, kind plots.Kind) {
	for len(b.cut) > 0 && b.cut[0].Begin < end {
		c := b.cut[0]
		b.cut = b.cut[1:]
		b.segment(c.Begin, category, kind)
		b.now = max(b.now, c.End)
	}
	if end <= b.now {
		return
	}
	if kind == plots.Wait && b.d.opts.ColorBy == ByWait {
		kind = plots.Code // the kind of wait is what the colours are about
	}
	b.lane.Segment(b.d.ns(b.now), b.d.ns(end), category, kind)
	b.now = end
}

// maxDepth bounds the stack, so that endless recursion cannot fill memory: what is deeper
// is drawn as the region at that depth.
const maxDepth = 1 << 14

func (b *bar) enter(t int64, region trace.RegionID, seq uint64) {
	if b.stack.Len() == maxDepth {
		b.below++
		return
	}
	b.fill(t)
	b.stack.Enter(region, b.visit(seq))
}

// visit returns what the calls say of the region that was entered by event seq. Sequence
// numbers ascend from one use to the next.
func (b *bar) visit(seq uint64) (v visit) {
	calls := b.d.t.Calls[b.l]
	for ; b.call < calls.Len(); b.call++ {
		c := calls.Ptr(b.call)
		if c.Seq > seq {
			break
		}
		if c.Seq == seq {
			v.blocks = blocks(c.Class)
			v.wait = b.d.waits[b.l].At(b.call)
		}
	}
	return v
}

func (b *bar) leave(t int64, region trace.RegionID) {
	if b.below > 0 {
		b.below--
		return
	}
	n := b.stack.Leave(region)
	if n == 0 {
		return
	}
	b.fill(t)
	for range n {
		b.stack.Pop()
	}
}

// blocks reports whether a call of the class can wait for other ranks.
func blocks(c trace.CallClass) bool {
	switch c {
	case trace.ClassRecv, trace.ClassSendrecv, trace.ClassProbe, trace.ClassWait, trace.ClassColl:
		return true
	}
	return false
}
