package profile

import (
	"math"

	"tracekit/document/waitstate"
	"tracekit/engine"
	"tracekit/stats/waits"
	"tracekit/trace"
)

// A Follower follows the call stack of one location through its events, and tells what the
// location does from the first to the last: in which visit it is, and whether it waits there. V is
// what its user keeps for a visit. Times are corrected ticks.
type Follower[V any] struct {
	// Enter returns what is kept for a region that is entered. Caller is what is kept for the region
	// around it, nil for the outermost; call is nil where the region is no call of the trace's Calls.
	Enter func(caller *V, region trace.RegionID, site trace.SourceLocationID, call *trace.Call) V
	// Spend is told that the location goes on until end in the innermost visit, nil outside any
	// region; end ascends. None: it does not wait.
	Spend func(end int64, region trace.RegionID, visit *V, wait waitstate.Kind)

	t      *trace.Trace
	waits  waits.ByCall
	l      trace.LocationID
	stack  trace.CallStack[struct{}]
	visits []followed[V] // of the outermost regions on the stack, the first deepest ones
	short  followed[V]   // a visit that is left by the event after its Enter
	call   int           // row of the location's calls that comes next
	next   uint64        // its sequence number, once an event before it was met
	now    int64         // up to here Spend was told
	last   int64         // time of the last event
	times  []int64
}

type followed[V any] struct {
	visit  V
	wait   *waits.Wait // nil: it does not wait
	region trace.RegionID
}

// deepest bounds the visits that are kept, so that endless recursion takes little memory: what is
// deeper counts as the region at that depth.
const deepest = 1 << 14

// Follow follows a location through its events: it is Begin, Batch for each of the batches, and End.
func (f *Follower[V]) Follow(t *trace.Trace, waits waits.ByCall, l trace.LocationID, batches engine.Batches) error {
	f.Begin(t, waits, l)
	for batch, err := range batches {
		if err != nil {
			return err
		}
		f.Batch(batch)
	}
	f.End()
	return nil
}

// Begin makes the follower one of a location.
func (f *Follower[V]) Begin(t *trace.Trace, waits waits.ByCall, l trace.LocationID) {
	f.t, f.waits, f.l, f.now, f.last = t, waits, l, t.Span[l].First, t.Span[l].First
}

// End tells what the location does until its last event.
func (f *Follower[V]) End() {
	if s := f.t.Span[f.l]; s.Events > 0 {
		f.fill(s.Last)
	}
}

// Batch follows the location through its next events.
func (f *Follower[V]) Batch(batch *trace.Batch) {
	flow := &batch.Flow
	times, clock := flow.Time, &f.t.Clock.Maps[f.l]
	if !clock.Identity() {
		f.times = append(f.times[:0], times...)
		clock.Correct(f.times, f.last)
		times = f.times
	}
	n := len(times)
	kinds, regions := flow.Kind[:n], flow.Region[:n]
	for i := 0; i < n; i++ {
		f.last = max(f.last, times[i])
		t, region := f.last, regions[i]
		if !kinds[i].Enters() {
			f.leave(t, region)
			continue
		}
		site := trace.SourceLocationID(trace.None)
		if len(flow.Context) > 0 {
			site = f.t.Defs.SiteOf(flow.Context[i])
		}
		switch k := i + 1; {
		case len(f.visits) == deepest:
			f.stack.Enter(region, struct{}{})
		case k < n && regions[k] == region && !kinds[k].Enters(): // so are most
			f.short = f.entered(t, region, site, flow.Seq[i])
			f.last = max(f.last, times[k])
			f.spend(&f.short, f.last)
			i = k
		default:
			f.visits = append(f.visits, f.entered(t, region, site, flow.Seq[i]))
			f.stack.Enter(region, struct{}{})
		}
	}
}

// entered returns the visit that begins at t.
func (f *Follower[V]) entered(t int64, region trace.RegionID, site trace.SourceLocationID, seq uint64) followed[V] {
	f.fill(t)
	var caller *V
	if n := len(f.visits); n > 0 {
		caller = &f.visits[n-1].visit
	}
	call, wait := f.called(seq)
	return followed[V]{f.Enter(caller, region, site, call), wait, region}
}

// called returns the call that was entered by event seq, and how it waits. Sequence numbers
// ascend from one use to the next.
func (f *Follower[V]) called(seq uint64) (call *trace.Call, wait *waits.Wait) {
	if seq < f.next {
		return nil, nil
	}
	calls := f.t.Calls[f.l]
	for f.next = math.MaxUint64; f.call < calls.Len(); f.call++ {
		c := calls.Ptr(f.call)
		if c.Seq() > seq {
			f.next = c.Seq()
			break
		}
		if c.Seq() == seq {
			call, wait = c, f.waits[f.l].Of(f.call)
		}
	}
	return call, wait
}

func (f *Follower[V]) leave(t int64, region trace.RegionID) {
	for range f.stack.Leave(region) {
		f.stack.Pop()
	}
	if n := f.stack.Len(); n < len(f.visits) {
		f.fill(t)
		f.visits = f.visits[:n]
	}
}

// fill tells what the location does from now to t.
func (f *Follower[V]) fill(t int64) {
	n := len(f.visits)
	if n == 0 {
		f.until(t, trace.None, nil, waitstate.None)
		return
	}
	f.spend(&f.visits[n-1], t)
}

// spend tells that the innermost visit goes on from now to t.
func (f *Follower[V]) spend(v *followed[V], t int64) {
	if w := v.wait; w != nil {
		f.until(min(t, w.From), v.region, &v.visit, waitstate.None)
		late, _ := f.waits[f.l].Sender(w)
		f.until(min(t, w.From+late), v.region, &v.visit, waitstate.LateSender)
		f.until(min(t, w.From+w.Time), v.region, &v.visit, w.Kind)
	}
	f.until(t, v.region, &v.visit, waitstate.None)
}

func (f *Follower[V]) until(t int64, region trace.RegionID, v *V, wait waitstate.Kind) {
	if t > f.now {
		f.now = t
		f.Spend(t, region, v, wait)
	}
}
