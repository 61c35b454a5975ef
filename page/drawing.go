package page

import (
	"context"

	"tracekit/engine"
	"tracekit/stats/profile"
	"tracekit/stats/waits"
	"tracekit/trace"
)

// A drawing keeps, as a K for each location, what the location does. It hears the events that an
// analysis decodes: it is a profile.Observer.
type drawing[K keeping] struct {
	b     *builder
	begin func(trace.LocationID) K
	lanes []*lane // by location; nil: it has no events, or none were heard
	kept  []K
}

// What is kept of a location is told what it does and what its counters are.
type keeping interface {
	taker
	curve(counter int) plotter // of a counter that has its first sample
	close()
}

func newDrawing[K keeping](b *builder, begin func(trace.LocationID) K) drawing[K] {
	return drawing[K]{b, begin, make([]*lane, len(b.t.Span)), make([]K, len(b.t.Span))}
}

// Listen implements profile.Observer.
func (d *drawing[K]) Listen(waits waits.ByCall, l trace.LocationID) (hear func(*trace.Batch), end func()) {
	if int(l) >= len(d.lanes) || d.b.t.Span[l].Events == 0 {
		return nil, nil
	}
	kept := d.begin(l)
	n, m := newLane(d.b, waits, l, kept), &meters{b: d.b, location: l, last: d.b.t.Span[l].First, begin: kept.curve}
	d.lanes[l], d.kept[l] = n, kept
	hear = func(batch *trace.Batch) {
		if len(d.b.counters) > 0 {
			m.batch(batch)
		}
		n.follower.Batch(batch)
	}
	end = func() {
		n.end()
		m.close()
		kept.close()
	}
	return hear, end
}

// Finish implements profile.Observer.
func (d *drawing[K]) Finish(context.Context) ([]trace.Finding, error) { return nil, nil }

// decode hears the events of all locations where no analysis decodes them.
func (d *drawing[K]) decode(ctx context.Context, waits waits.ByCall, jobs int) error {
	listen := profile.Hearing(d, waits)
	_, err := engine.Each(ctx, d.b.t.Source, engine.Options{Jobs: jobs, Listeners: []engine.Listener{listen}},
		func(_ context.Context, _ trace.LocationID, batches engine.Batches) (none struct{}, err error) {
			for _, err := range batches {
				if err != nil {
					return none, err
				}
			}
			return none, nil
		})
	return err
}
