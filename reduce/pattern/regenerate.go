package pattern

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"

	"tracekit/spill"
	"tracekit/trace"
)

// Regenerate returns a reduced trace with all that was cut, made again: the same calls with
// the same partners and sizes in the same order. Each interval begins when it did, or when the laws say; in
// it times are means over all that were alike, and one that was longer has waited longer. Values of counters, parameters and
// attributes are those of the first model; counters that add up go on from where they were.
// The trace is said to be rebuilt; its property trace.PropertyRegenerated says where.
//
// Times that are drawn lie in the store. An error means that src is not the trace that was reduced.
func Regenerate(src trace.Source, r *Repeats, store *spill.Store) (trace.Source, error) {
	d := *src.Defs()
	if len(d.Locations) != len(r.Locations) || d.Clock.Resolution != r.Clock.Resolution || d.Clock.GlobalOffset != r.Clock.GlobalOffset {
		return nil, fmt.Errorf("%s has other locations or another clock than the reduced trace: %w", src.Info().Path, errOther)
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
		delete(about.Properties, trace.PropertyCutShare)
	}
	about.Properties[trace.PropertyRegenerated] = encodeStretches(r.Clock, r.Stretches())
	about.Properties[trace.PropertyReconstructed] = "true"
	about.Properties[trace.PropertyRebuiltFrom] = fmt.Sprintf("intervals that were kept: %d of %d repeat others", len(r.Which), r.Intervals)
	if r.Laws != nil {
		about.Properties[trace.PropertyRebuiltFrom] += "; when they began is drawn from laws"
	}
	if r.Alike == ByDistance {
		about.Properties[trace.PropertyApproximate] = fmt.Sprintf("calls, partners and sizes: those of %d of %d intervals are those of one "+
			"that has nearly as many calls", len(r.Which), r.Intervals)
	}
	g := &regenerated{Source: src, about: about, defs: &d, repeats: r, waiting: waiting(&d)}
	if r.Laws != nil {
		g.replay = newReplay(src, r, store)
	}
	return g, nil
}

// errOther says what to do with a trace that was changed since it was reduced.
var errOther = errors.New("regenerate the trace that reduce wrote, and convert the result")

// A regenerated is a trace with what was cut made again.
type regenerated struct {
	trace.Source
	about   trace.Info
	defs    *trace.Defs
	repeats *Repeats
	waiting []bool  // by region: who is in it may wait
	replay  *replay // nil: times are exact
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
		w := &rewriter{counters: counters{defs: g.defs}, waiting: g.waiting, location: &r.Locations[l], runs: r.Runs, which: r.Which,
			times:  r.times(l),
			models: make([]model, len(r.Locations[l].Kept)), variants: make(map[int]*variant), numbers: make(map[uint64]uint64), yield: yield}
		if g.replay != nil {
			if err := g.replay.finish(ctx); err != nil {
				yield(nil, err)
				return
			}
			w.timeline, w.itself = g.replay.timeline(l), r.Locations[l].Master == l
		}
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
				if !w.keep(b, seq, row) {
					yield(nil, g.otherTrace(l, fmt.Sprintf("what lies before event %d", seq)))
					return
				}
			}
		}
		if w.outside && !w.inside {
			yield(nil, g.otherTrace(l, "its last event"))
			return
		}
		if w.catchUp(1<<63) && w.out.Len() > 0 {
			yield(&w.out, nil)
		}
	}
}

// otherTrace is the error that a kept interval, or its end, is not there.
func (g *regenerated) otherTrace(l trace.LocationID, what string) error {
	return fmt.Errorf("%s: location %d: %s does not match the kept iterations: %w", g.about.Path, l, what, errOther)
}

// A rewriter writes the events of one location.
type rewriter struct {
	location *Location
	out      trace.Batch
	yield    func(*trace.Batch, error) bool

	attrs    int  // row of the batch
	kept     int  // interval that goes on, or comes next
	inside   bool // some of its events are within its time
	outside  bool // some are not
	models   []model
	variants map[int]*variant // by their model
	stack    trace.CallStack[bool]
	waiting  []bool // by region: who is in it may wait
	run      int    // that comes next
	runs     []int
	which    []int
	times    []runTimes
	timeline *timeline // nil: times are exact
	itself   bool      // the timeline is the location's, not that of its master
	counters counters
	requests requests          // of what is written
	numbers  map[uint64]uint64 // of requests, by requests.started when they were
	fresh    uint64            // number of a request in the run
}

// A model is the records of a kept interval.
type model struct {
	events trace.Batch
	ages   []uint64 // of the request that each uses
	waits  []bool   // the location may wait before it, and at last: before the interval ends
}

// A variant is an interval as it is made again: what passes between its events, and between
// the last and its end, in ticks. An interval that was longer has waited longer; only where
// that cannot be is all of it shortened or stretched.
type variant struct {
	*model
	gaps            []float64
	inWaits, inWork float64 // sums
}

// keep writes an event that is in the reduced trace, and notes it if it is part of a model. It
// is false if the trace is not the one that was reduced: then a kept interval is not when it
// was.
func (w *rewriter) keep(b *trace.Batch, seq uint64, row trace.Row) bool {
	time := b.Time(row)
	attrs := w.attrs
	for w.attrs < len(b.Attrs.Seq) && b.Attrs.Seq[w.attrs] <= seq {
		w.attrs++
	}
	for w.kept < len(w.models) && seq >= w.location.Kept[w.kept].First+w.location.Kept[w.kept].Events {
		if !w.leaveKept() {
			return false
		}
	}
	age := w.follow(b, row)
	if w.kept < len(w.models) && seq >= w.location.Kept[w.kept].First {
		m, k := &w.models[w.kept], w.location.Kept[w.kept]
		within := min(max(time, k.Begin), k.End) // some times of a trace may run backwards
		if within == time {
			w.inside = true
		} else {
			w.outside = true
		}
		appendEvent(&m.events, b, row, within, attrs, w.attrs)
		if m.ages = append(m.ages, age); len(m.waits) == 0 {
			m.waits = append(m.waits, w.waits())
		}
		w.step(b, row)
		m.waits = append(m.waits, w.waits())
	} else {
		w.step(b, row)
	}
	appendEvent(&w.out, b, row, time, attrs, w.attrs)
	if row.Table == trace.TableMetric {
		w.counters.note(&w.out, row.End-row.First, false)
	}
	return true
}

// leaveKept goes on to the next kept interval; it returns false if no event of this one was when it
// was kept.
func (w *rewriter) leaveKept() bool {
	sound := w.inside || !w.outside
	w.inside, w.outside = false, false
	w.kept++
	return sound
}

// step follows the call stack.
func (w *rewriter) step(b *trace.Batch, row trace.Row) {
	if row.Table != trace.TableFlow {
		return
	}
	if region := b.Flow.Region[row.First]; b.Flow.Kind[row.First].Enters() {
		w.stack.Enter(region, int(region) < len(w.waiting) && w.waiting[region])
	} else {
		for range w.stack.Leave(region) {
			w.stack.Pop()
		}
	}
}

// waits reports whether the location is in a call that can wait for others, or in nothing.
func (w *rewriter) waits() bool {
	top := w.stack.Top()
	return top == nil || *top
}

// waiting tells which regions are such calls.
func waiting(d *trace.Defs) []bool {
	const implicitBarrier = trace.RoleBarrier + 1
	out := make([]bool, len(d.Regions))
	for r, f := range d.MPIFunctions() {
		switch f.Class {
		case trace.ClassSend, trace.ClassRecv, trace.ClassSendrecv, trace.ClassProbe, trace.ClassWait, trace.ClassColl, trace.ClassInit,
			trace.ClassFinalize:
			out[r] = true
		}
		role := d.Regions[r].Role
		out[r] = out[r] || role == trace.RoleBarrier || role == implicitBarrier
	}
	return out
}

// follow notes what an event does to its request, and returns its age.
func (w *rewriter) follow(b *trace.Batch, row trace.Row) (age uint64) {
	var kind trace.Kind
	var number uint64
	switch row.Table {
	case trace.TableP2P:
		kind, number = b.P2P.Kind[row.First], b.P2P.Request[row.First]
	case trace.TableColl:
		kind, number = b.Coll.Kind[row.First], b.Coll.Request[row.First]
	default:
		return 0
	}
	started := w.requests.started
	age, uses := w.requests.event(kind, number)
	switch {
	case started < w.requests.started:
		w.numbers[w.requests.started] = number
	case uses && age > 0 && kind != trace.KindMpiRequestTest:
		delete(w.numbers, started+1-age)
	}
	return age
}

// renumber gives the last event, which was made again, the number of the request that it
// starts, or of the one of the age that its model uses.
func (w *rewriter) renumber(row trace.Row, age uint64) {
	var kind trace.Kind
	var number *uint64
	switch row.Table {
	case trace.TableP2P:
		k := len(w.out.P2P.Seq) - 1
		kind, number, row.First = w.out.P2P.Kind[k], &w.out.P2P.Request[k], k
	case trace.TableColl:
		k := len(w.out.Coll.Seq) - 1
		kind, number, row.First = w.out.Coll.Kind[k], &w.out.Coll.Request[k], k
	default:
		return
	}
	switch {
	case kind.StartsRequest():
		for w.fresh++; w.requests.open[w.fresh] != 0; w.fresh++ {
		}
		*number = w.fresh
	case age > 0:
		*number = w.numbers[w.requests.started+1-age]
	}
	w.follow(&w.out, row)
}

// catchUp makes the runs again that come before an event of the reduced trace. It is false
// if nobody wants more events.
func (w *rewriter) catchUp(seq uint64) bool {
	for w.run < len(w.runs) && w.location.At[w.run] <= seq {
		n := w.runs[w.run]
		w.fresh = 0
		if w.timeline != nil {
			w.timeline.begin()
		}
		for i, v := range w.which[:n] {
			if !w.deliver() {
				return false
			}
			if w.timeline != nil {
				begin, end := w.timeline.interval()
				w.again(v, begin, end)
			} else {
				w.again(v, w.times[0].begin(i), w.times[0].begin(i+1))
			}
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
	k := w.location.Models[v]
	x := w.variants[k]
	if x == nil {
		x = w.variant(k)
		w.variants[k] = x
	}
	work, wait := x.fit(float64(end - begin))
	attrs, i, at := 0, 0, 0.0
	clear(w.counters.shift)
	for seq, row := range x.events.Events {
		from := attrs
		for attrs < len(x.events.Attrs.Seq) && x.events.Attrs.Seq[attrs] <= seq {
			attrs++
		}
		factor := work
		if x.waits[i] {
			factor = wait
		}
		at += float64(x.gaps[i] * factor) // rounded on every machine alike
		time := min(begin+int64(at), end)
		if w.itself {
			time = w.timeline.event(i)
		}
		appendEvent(&w.out, &x.events, row, time, from, attrs)
		w.renumber(row, x.ages[i])
		if row.Table == trace.TableMetric {
			w.counters.note(&w.out, row.End-row.First, true)
		}
		i++
	}
}

// variant makes a variant of a model. If the trace ends before the model does, less comes of
// it.
func (w *rewriter) variant(k int) *variant {
	x := &variant{model: &w.models[k]}
	for i, g := range w.location.Kept[k].Gaps {
		gap := float64(g) / gapUnit
		x.gaps = append(x.gaps, gap)
		if i < len(x.waits) && x.waits[i] {
			x.inWaits += gap
		} else {
			x.inWork += gap
		}
	}
	return x
}

// fit returns by how much what passes in work and in waits is longer in an interval of a
// length.
func (x *variant) fit(length float64) (work, waits float64) {
	switch {
	case x.inWaits > 0 && length >= x.inWork:
		return 1, (length - x.inWork) / x.inWaits
	case x.inWork > 0:
		return length / x.inWork, 0
	}
	return 0, 0
}
