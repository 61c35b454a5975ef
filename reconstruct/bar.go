package reconstruct

import (
	"tracekit/engine"
	"tracekit/plots"
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
	stack []frame
	below int // regions entered below the deepest frame
	calls *callRows
	now   int64 // up to here the lane is fed
	times []int64
	last  int64 // time of the last event
}

// A frame is a region that is entered and not left. If it is a call of MPI that waits, it
// does so until waitEnd.
type frame struct {
	region  trace.RegionID
	waitEnd int64
	kind    stats.WaitKind
	blocks  bool // the call can block
}

func newBar(d *diagram, l trace.LocationID, lane lane) *bar {
	first := d.start
	if s := d.t.Span[l]; s.Events > 0 {
		first = s.First
	}
	return &bar{d: d, l: l, lane: lane, now: first, last: first,
		calls: &callRows{d: d, calls: d.t.Calls[l], waits: d.waits[l]}}
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
	if t <= b.now || len(b.stack) == 0 {
		b.now = max(b.now, t)
		return
	}
	f := &b.stack[len(b.stack)-1]
	if b.now < f.waitEnd {
		end := min(t, f.waitEnd)
		b.segment(end, b.d.colors.wait(f.kind), plots.Wait)
	}
	if b.now < t {
		kind := plots.Code
		if f.blocks {
			kind = plots.Blocked
		}
		b.segment(t, b.d.colors.of(f.region), kind)
	}
}

func (b *bar) segment(end int64, category int, kind plots.Kind) {
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
	if len(b.stack) == maxDepth {
		b.below++
		return
	}
	b.fill(t)
	f := frame{region: region}
	if row := b.calls.find(seq); row != nil {
		f.blocks = blocks(row.call.Class)
		if row.wait.Time > 0 {
			f.waitEnd, f.kind = row.call.Enter+row.wait.Time, row.wait.Kind
		}
	}
	b.stack = append(b.stack, f)
}

// leave closes the region, and those inside it that were never left; a leave of a region
// that was not entered is passed over.
func (b *bar) leave(t int64, region trace.RegionID) {
	if b.below > 0 {
		b.below--
		return
	}
	for i := len(b.stack) - 1; i >= 0; i-- {
		if b.stack[i].region == region {
			b.fill(t)
			b.stack = b.stack[:i]
			return
		}
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
