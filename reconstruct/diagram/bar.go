package diagram

import (
	"tracekit/document/waitstate"
	"tracekit/engine"
	"tracekit/plots"
	"tracekit/reduce/pattern"
	"tracekit/stats/profile"
	"tracekit/trace"
)

// A lane takes what a rank did, in order of time; see plots.Lane.
type lane interface {
	Segment(start, end int64, category int, kind plots.Kind)
}

// A bar feeds a lane of the diagram with what one location does. Times in it are corrected ticks.
type bar struct {
	d    *diagram
	l    trace.LocationID
	lane lane
	gpu  bool              // the location is a stream of a device
	now  int64             // up to here the lane is fed
	cut  []pattern.Stretch // from now on: the lane is empty there
	call int               // rows of calls before this one were entered
}

// A visit of a region has a category of its own if its color says its overhead; else none.
type visit struct{ category int }

func newBar(d *diagram, l trace.LocationID, lane lane) *bar {
	first := d.start
	if s := d.t.Span[l]; s.Events > 0 {
		first = s.First
	}
	return &bar{d: d, l: l, lane: lane, gpu: d.onDevice(l), now: first, cut: d.cut[l]}
}

// run draws all events. Nothing is kept of a visit.
func (b *bar) run(batches engine.Batches) error {
	f := profile.Follower[visit]{
		Enter: func(_ *visit, _ trace.RegionID, _ trace.SourceLocationID, call *trace.Call) visit {
			return b.enter(call)
		},
		Spend: b.spend,
	}
	return f.Follow(b.d.t, b.d.waits, b.l, batches)
}

// enter says what a call of MPI looks like; nil: the region is none.
func (b *bar) enter(call *trace.Call) visit {
	if call == nil || b.d.colors.byOverhead == nil {
		return visit{none}
	}
	calls := b.d.t.Calls[b.l]
	for b.call < calls.Len() && calls.Ptr(b.call).Seq() < call.Seq() {
		b.call++
	}
	ns, known := b.d.opts.Overhead.At(b.l, b.call)
	return visit{b.d.colors.overhead(ns, b.d.ns(call.Leave)-b.d.ns(call.Enter), known)}
}

// spend draws up to end what the location does.
func (b *bar) spend(end int64, region trace.RegionID, visit *visit, wait waitstate.Kind) {
	switch category := b.d.colors.of(region, b.gpu); {
	case visit != nil && visit.category != none:
		b.segment(end, visit.category, plots.Code)
	case visit == nil || category == none && wait == waitstate.None:
		b.now = max(b.now, end)
	case wait != waitstate.None:
		b.segment(end, b.d.colors.wait(wait), plots.Wait)
	default:
		b.segment(end, category, plots.Code)
	}
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
		kind = plots.Code // the kind of wait is what the colors are about
	}
	b.lane.Segment(b.d.ns(b.now), b.d.ns(end), category, kind)
	b.now = end
}
