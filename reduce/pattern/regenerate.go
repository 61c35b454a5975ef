package pattern

import (
	"context"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"

	"tracekit/trace"
)

// Regenerate returns a reduced trace with all that was cut, made again: the same calls with
// the same partners and sizes in the same order, at times that are those of the models,
// stretched to the length that the interval had. Values of counters, parameters and
// attributes are those of the first model; counters that add up go on from where they were.
// The trace is said to be rebuilt; its property trace.PropertyRegenerated says where.
//
// An error means that src is not the trace that was reduced.
func Regenerate(src trace.Source, r *Repeats) (trace.Source, error) {
	d := *src.Defs()
	if len(d.Locations) != len(r.Locations) || d.Clock.Resolution != r.Clock.Resolution || d.Clock.GlobalOffset != r.Clock.GlobalOffset {
		return nil, fmt.Errorf("%s has other locations or another clock than when it was reduced: regenerate the trace that reduce wrote, and convert the result", src.Info().Path)
	}
	d.Locations = slices.Clone(d.Locations)
	for l := range d.Locations {
		d.Locations[l].Events += r.cutOf(trace.LocationID(l))
	}
	about := src.Info()
	about.Properties = maps.Clone(about.Properties)
	delete(about.Properties, trace.PropertyRepeats)
	delete(about.Properties, trace.PropertyCut)
	if by := slices.DeleteFunc(about.ReducedBy(), func(rule string) bool { return rule == ruleName }); len(by) > 0 {
		about.Properties[trace.PropertyReducedBy] = strings.Join(by, "; ")
	} else {
		delete(about.Properties, trace.PropertyReducedBy)
	}
	about.Properties[trace.PropertyRegenerated] = encodeStretches(r.Clock, r.Stretches())
	about.Properties[trace.PropertyReconstructed] = "true"
	about.Properties[trace.PropertyRebuiltFrom] = fmt.Sprintf("intervals that were kept: %d of %d repeat others", len(r.Which), r.Intervals)
	return &regenerated{Source: src, about: about, defs: &d, repeats: r}, nil
}

// A regenerated is a trace with what was cut made again.
type regenerated struct {
	trace.Source
	about   trace.Info
	defs    *trace.Defs
	repeats *Repeats
}

// Info implements trace.Source.
func (g *regenerated) Info() trace.Info { return g.about }

// Defs implements trace.Source.
func (g *regenerated) Defs() *trace.Defs { return g.defs }

// batchEvents is the number of events in a batch that is delivered, or a few more.
const batchEvents = 4096

// Events implements trace.Source.
func (g *regenerated) Events(ctx context.Context, l trace.LocationID) iter.Seq2[*trace.Batch, error] {
	r := g.repeats
	if int(l) >= len(r.Locations) || len(r.Locations[l].Kept) == 0 {
		return g.Source.Events(ctx, l)
	}
	return func(yield func(*trace.Batch, error) bool) {
		w := &rewriter{counters: counters{defs: g.defs}, repeats: r, location: &r.Locations[l], runs: r.Runs, which: r.Which, times: r.times(l),
			models: make([]*trace.Batch, len(r.Locations[l].Kept)), variants: make([]*variant, len(r.Models)), yield: yield}
		w.out.Reset(l, 0)
		for b, err := range g.Source.Events(ctx, l) {
			if err != nil {
				yield(nil, err)
				return
			}
			w.attrs = 0
			for seq, row := range b.Events {
				if !w.catchUp(seq) {
					return
				}
				w.keep(b, seq, row)
			}
		}
		if w.catchUp(1<<63) && w.out.Len() > 0 {
			yield(&w.out, nil)
		}
	}
}

// A rewriter writes the events of one location.
type rewriter struct {
	repeats  *Repeats
	location *Location
	out      trace.Batch
	yield    func(*trace.Batch, error) bool

	attrs    int // row of the batch
	kept     int // interval that goes on, or comes next
	models   []*trace.Batch
	variants []*variant
	run      int // that comes next
	runs     []int
	which    []int
	times    []runTimes
	counters counters
}

// A variant is an interval as it is made again.
type variant struct {
	events *trace.Batch
	share  []float64 // by event: of the interval's time, that has passed
}

// keep writes an event that is in the reduced trace, and notes it if it is part of a model.
func (w *rewriter) keep(b *trace.Batch, seq uint64, row trace.Row) {
	time, _ := b.Time(row)
	attrs := w.attrs
	for w.attrs < len(b.Attrs.Seq) && b.Attrs.Seq[w.attrs] <= seq {
		w.attrs++
	}
	for w.kept < len(w.models) && seq >= w.location.Kept[w.kept].First+w.location.Kept[w.kept].Events {
		w.kept++
	}
	if w.kept < len(w.models) && seq >= w.location.Kept[w.kept].First {
		if w.models[w.kept] == nil {
			w.models[w.kept] = new(trace.Batch)
			w.models[w.kept].Reset(b.Location, 0)
		}
		appendEvent(w.models[w.kept], b, row, time, attrs, w.attrs)
	}
	appendEvent(&w.out, b, row, time, attrs, w.attrs)
	if row.Table == trace.TableMetric {
		w.counters.note(&w.out, row.End-row.First, false)
	}
}

// catchUp makes the runs again that come before an event of the reduced trace. It is false
// if nobody wants more events.
func (w *rewriter) catchUp(seq uint64) bool {
	for w.run < len(w.runs) && w.location.At[w.run] <= seq {
		n := w.runs[w.run]
		for i, v := range w.which[:n] {
			if !w.deliver() {
				return false
			}
			w.again(v, w.times[0].begin(i), w.times[0].begin(i+1))
		}
		w.run, w.which, w.times = w.run+1, w.which[n:], w.times[1:]
	}
	return w.deliver()
}

// deliver hands the batch on if it is full.
func (w *rewriter) deliver() bool {
	if w.out.Len() < batchEvents {
		return true
	}
	ok := w.yield(&w.out, nil)
	w.out.Reset(w.out.Location, w.out.First+uint64(w.out.Len()))
	return ok
}

// again makes an interval of a variant.
func (w *rewriter) again(v int, begin, end int64) {
	if w.variants[v] == nil {
		w.variants[v] = w.variant(w.repeats.Models[v])
	}
	x := w.variants[v]
	attrs, i := 0, 0
	clear(w.counters.shift)
	for seq, row := range x.events.Events {
		from := attrs
		for attrs < len(x.events.Attrs.Seq) && x.events.Attrs.Seq[attrs] <= seq {
			attrs++
		}
		appendEvent(&w.out, x.events, row, begin+int64(x.share[i]*float64(end-begin)), from, attrs)
		if row.Table == trace.TableMetric {
			w.counters.note(&w.out, row.End-row.First, true)
		}
		i++
	}
}

// variant makes the mean of models. If the trace ends before one, or its records are not
// those that were kept, nothing comes of it.
func (w *rewriter) variant(models []int) *variant {
	x := &variant{events: w.models[models[0]]}
	if x.events == nil {
		x.events = new(trace.Batch)
	}
	x.share = make([]float64, x.events.Len())
	for _, m := range models {
		b, k := w.models[m], w.location.Kept[m]
		i := 0
		if b == nil {
			continue
		}
		last := 0.0
		for _, row := range b.Events {
			if t, ok := b.Time(row); ok && k.End > k.Begin {
				last = min(max(float64(t-k.Begin)/float64(k.End-k.Begin), last), 1)
			}
			if i < len(x.share) {
				x.share[i] += last / float64(len(models))
			}
			i++
		}
	}
	return x
}
