package merge

import (
	"context"
	"iter"
	"maps"
	"slices"

	"tracekit/trace"
)

// Corrected returns the source of a trace with corrected times: those that the trace's clock
// maps make of the recorded ones. There are no measured offsets any more. The clock counts
// from where it did, or from the first event if that is earlier now. It is valid as long as
// the trace's source; of the trace itself it needs the clock and the spans alone.
func Corrected(t *trace.Trace) trace.Source {
	d := *t.Defs
	d.Locations = slices.Clone(d.Locations)
	first, last, any := int64(0), int64(0), false
	for l := range d.Locations {
		d.Locations[l].ClockOffsets = nil
		s := t.Span[l]
		switch {
		case s.Events == 0:
		case !any:
			first, last, any = s.First, s.Last, true
		default:
			first, last = min(first, s.First), max(last, s.Last)
		}
	}
	if c := &d.Clock; any {
		if first < c.GlobalOffset {
			if ns := uint64(c.Nanoseconds(c.GlobalOffset - first)); c.Realtime != ^uint64(0) && c.Realtime >= ns {
				c.Realtime -= ns
			}
			c.GlobalOffset = first
		}
		c.Length = uint64(max(last, c.GlobalOffset)) - uint64(c.GlobalOffset)
	}
	return &corrected{Source: t.Source, defs: &d, by: t.Clock.Maps}
}

// A corrected is a source with corrected times.
type corrected struct {
	trace.Source
	defs *trace.Defs
	by   []trace.ClockMap
}

// Info implements trace.Source: the times are corrected.
func (c *corrected) Info() trace.Info {
	about := c.Source.Info()
	about.Properties = maps.Clone(about.Properties)
	if about.Properties == nil {
		about.Properties = make(map[string]string)
	}
	about.Properties[trace.PropertyCorrected] = "true"
	return about
}

// Defs implements trace.Source.
func (c *corrected) Defs() *trace.Defs { return c.defs }

// Events implements trace.Source.
func (c *corrected) Events(ctx context.Context, l trace.LocationID) iter.Seq2[*trace.Batch, error] {
	m := &c.by[l]
	if m.Identity() {
		return c.Source.Events(ctx, l)
	}
	return func(yield func(*trace.Batch, error) bool) {
		var times retiming
		for i := range times {
			times[i].clock = m.Cursor()
		}
		for b, err := range c.Source.Events(ctx, l) {
			if err == nil {
				b = times.batch(b)
			}
			if !yield(b, err) {
				return
			}
		}
	}
}

// A retiming holds the corrected columns of a batch: the times of its tables of events, and
// the arguments of other events, some of which are times.
type retiming [trace.TableAttrs + 1]struct {
	clock trace.ClockCursor
	times []int64
	args  []uint64
}

// batch returns a batch with corrected times. It shares all else with the given one.
func (r *retiming) batch(b *trace.Batch) *trace.Batch {
	out := *b
	for table, times := range [...]*[]int64{trace.TableFlow: &out.Flow.Time, trace.TableP2P: &out.P2P.Time,
		trace.TableColl: &out.Coll.Time, trace.TableMetric: &out.Metric.Time, trace.TableOther: &out.Other.Time} {
		x := &r[table]
		x.times = x.times[:0]
		for _, t := range *times {
			x.times = append(x.times, x.clock.At(t))
		}
		*times = x.times
	}
	x, o := &r[trace.TableAttrs], &out.Other
	x.args = append(x.args[:0], o.Args...)
	for i, kind := range o.Kind {
		if from := o.Offset[i]; kind == trace.KindBufferFlush && from < o.Offset[i+1] { // its argument: when the flush ends
			x.args[from] = uint64(x.clock.At(int64(x.args[from])))
		}
	}
	o.Args = x.args
	return &out
}
