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
}

func newBar(d *diagram, l trace.LocationID, lane lane) *bar {
	first := d.start
	if s := d.t.Span[l]; s.Events > 0 {
		first = s.First
	}
	return &bar{d: d, l: l, lane: lane, gpu: d.onDevice(l), now: first, cut: d.cut[l]}
}

// run draws all events. Nothing is kept of a visit.
func (b *bar) run(batches engine.Batches) error {
	f := profile.Follower[struct{}]{
		Enter: func(*struct{}, trace.RegionID, trace.SourceLocationID, *trace.Call) (visit struct{}) { return visit },
		Spend: b.spend,
	}
	return f.Follow(b.d.t, b.d.waits, b.l, batches)
}

// spend draws up to end what the location does.
func (b *bar) spend(end int64, region trace.RegionID, visit *struct{}, wait waitstate.Kind) {
	switch category := b.d.colors.of(region, b.gpu); {
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
