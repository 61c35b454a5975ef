package whatif

import (
	"context"
	"fmt"
	"strings"

	"tracekit/engine"
	"tracekit/spill"
	"tracekit/trace"
)

// A replay finds all times anew, in causal order: locations run one after the other, each
// until it must wait for one that is not so far.
//
//	in.clocks[l].At(i) is when call i is entered for i < turns.Steps(l); before that the time until then
//	without waits
type replay struct {
	*Model
	in       input
	state    []state
	arrivals *spill.Table[instance]
	turns    *engine.Turns           // of locations, by calls that they have entered; groups are instances
	waits    []*spill.Table[int64]   // by location and row: how long it waits; nil: not asked for
	endless  bool                    // some location would wait longer than mostChange
	order    *spill.Table[passedRow] // in which rows are passed; nil: not asked for
}

// An input is what a replay begins with, by location: that of the model, or changed.
type input struct {
	locations []location
	clocks    []clockTable
	ends      []int64
	longer    []clockTable // by call: by how much its own time is longer; nil: not asked for
	flights   []flight
	series    [][]series // that take messages as they come; nil: none
	own       []location // of locations, those with tables of their own
}

// state is how far a location is.
type state struct {
	next   int     // row in rows of the call that it is at
	at     row     // that row
	after  row     // the one after it
	shift  int64   // ticks waited so far
	series int     // the present one or the next
	times  []int64 // when the messages of the present one are there
}

// run replays everything, and returns an error that names who is stuck if it does not reach
// the end. It keeps the waits if asked to.
func (m *Model) run(ctx context.Context, in input, keep bool) (*replay, error) {
	r := m.newReplay(in)
	for l := range in.locations {
		if keep {
			r.waits = append(r.waits, spill.NewZeros[int64](m.t.Store, in.locations[l].rows.Len()))
		}
	}
	return r, r.runAll(ctx)
}

func (m *Model) newReplay(in input) *replay {
	return &replay{Model: m, in: in, state: make([]state, len(in.locations)), turns: engine.NewTurns(len(in.locations))}
}

func (r *replay) runAll(ctx context.Context) error {
	r.arrivals = spill.NewZeros[instance](r.t.Store, r.instances.Len())
	defer r.arrivals.Release()
	for l := range r.in.locations {
		r.turns.Start(l)
		r.move(trace.LocationID(l), 0)
	}
	for n := 0; ; n++ {
		if n%1024 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		l, ok := r.turns.Next()
		switch {
		case r.endless:
			return errEndless
		case !ok:
			return r.stuck()
		}
		r.advance(trace.LocationID(l))
	}
}

// A StuckError says which calls of a replay wait for what never happens.
type StuckError struct {
	Calls []StuckCall // of the first locations that are stuck
	More  int         // locations that are stuck as well
}

// A StuckCall is one of them.
type StuckCall struct {
	Location trace.LocationID
	Call     uint32
	Region   string
}

func (e *StuckError) Error() string {
	var calls []string
	for _, c := range e.Calls {
		calls = append(calls, fmt.Sprintf("%s (call %d of location %d)", c.Region, c.Call, c.Location))
	}
	if e.More > 0 {
		calls = append(calls, fmt.Sprintf("%d more", e.More))
	}
	wait := " wait"
	if len(calls) == 1 {
		wait = " waits"
	}
	return "the replay does not reach its end: " + strings.Join(calls, ", ") + wait + " for what never happens"
}

// stuckNames is how many calls a StuckError names.
const stuckNames = 4

func (r *replay) stuck() error {
	e := new(StuckError)
	for l := range r.state {
		s := &r.state[l]
		if s.next >= r.in.locations[l].rows.Len() {
			continue
		}
		if len(e.Calls) == stuckNames {
			e.More++
			continue
		}
		region := r.t.Calls[l].Ptr(int(s.at.call)).Region
		e.Calls = append(e.Calls, StuckCall{trace.LocationID(l), s.at.call, r.t.Defs.RegionLabel(region)})
	}
	if e.Calls == nil {
		return nil
	}
	return e
}

// advance runs a location until it must wait or is at its end.
func (r *replay) advance(l trace.LocationID) {
	s, rows := &r.state[l], r.in.locations[l].rows
	for s.next < rows.Len() {
		if !r.call(l) {
			return
		}
		if r.order != nil {
			r.order.Append(passedRow{l, uint32(s.next)})
		}
		r.move(l, s.next+1)
	}
	r.enter(l, r.in.clocks[l].Len())
}

// move makes row i the one that a location is at.
func (r *replay) move(l trace.LocationID, i int) {
	s, x := &r.state[l], &r.in.locations[l]
	s.next = i
	if i >= x.rows.Len() {
		return
	}
	if s.at = s.after; i == 0 {
		s.at = x.rows.At(0)
	}
	s.after = x.rowAfter(i)
}

// call enters and, if all it waits for is there, leaves the call that a location is at; it
// reports false if the location must wait.
func (r *replay) call(l trace.LocationID) bool {
	s, x := &r.state[l], &r.in.locations[l]
	if s.at.before {
		return r.prepare(l)
	}
	first := r.turns.Steps(int(l)) <= int(s.at.call)
	r.enter(l, int(s.at.call)+1)
	at, wait := r.in.clocks[l].At(int(s.at.call)), int64(0)
	if first {
		for k := s.at.parts; k < s.after.parts; k++ {
			r.arrive(x.parts.Ptr(int(k)), at)
		}
	}
	needs := s.after.needs
	if r.inSeries(l) {
		t, ok := r.taken(l)
		if !ok {
			return false
		}
		wait, needs = max(0, t-at), s.at.needs
	}
	for k := s.at.needs; k < needs; k++ {
		t, ok := r.met(l, x.needs.Ptr(int(k)))
		if !ok {
			return false
		}
		wait = max(wait, t-at)
	}
	for k := s.at.parts; k < s.after.parts; k++ {
		p := x.parts.Ptr(int(k))
		t, ok := at, true
		switch {
		case p.does&awaits != 0:
			t, ok = r.all(l, p.instance)
		case p.does&follows != 0:
			t, ok = r.before(l, p, at+p.head)
		default:
			continue
		}
		if !ok {
			return false
		}
		wait = max(wait, t+r.in.flights[p.flight].lag-at-p.head)
	}
	if s.shift += wait; s.shift > mostChange {
		r.endless = true
		return false
	}
	if r.waits != nil {
		r.waits[l].Set(s.next, wait)
	}
	return true
}

// prepare waits for what must be there before a call is entered; it reports false if that is
// not known yet.
func (r *replay) prepare(l trace.LocationID) bool {
	s, x := &r.state[l], &r.in.locations[l]
	r.enter(l, int(s.at.call))
	at, wait := r.in.clocks[l].At(int(s.at.call))+s.shift, int64(0)
	for k := s.at.needs; k < s.after.needs; k++ {
		t, ok := r.met(l, x.needs.Ptr(int(k)))
		if !ok {
			return false
		}
		wait = max(wait, t-at)
	}
	if s.shift += wait; s.shift > mostChange {
		r.endless = true
		return false
	}
	return true
}

// enter fixes the times of entering the calls before call end, and makes it known that the
// location has entered them.
func (r *replay) enter(l trace.LocationID, end int) {
	s := &r.state[l]
	if s.shift != 0 {
		for i := r.turns.Steps(int(l)); i < end; {
			clocks := r.in.clocks[l].From(i)
			clocks = clocks[:min(len(clocks), end-i)]
			for k := range clocks {
				clocks[k] += s.shift
			}
			i += len(clocks)
		}
	}
	r.turns.Reach(int(l), end)
}

// arrive counts a part of a call that is entered at an instance.
func (r *replay) arrive(p *part, at int64) {
	if p.does&arrives == 0 {
		return
	}
	a := r.arrivals.Ptr(int(p.instance))
	if a.arrive(at + p.head); a.arriving == r.instances.Ptr(int(p.instance)).arriving {
		r.turns.Complete(&a.waiting)
	}
}

// entered returns when a call is entered; ok is false, and l waits, if it is not yet.
func (r *replay) entered(l, other trace.LocationID, call uint32) (at int64, ok bool) {
	if r.turns.Steps(int(other)) <= int(call) {
		r.turns.Await(int(l), int(other), int(call)+1)
		return 0, false
	}
	return r.in.clocks[other].At(int(call)), true
}

// met returns when a need is met; ok is false, and l waits, if that is not known yet.
func (r *replay) met(l trace.LocationID, n *need) (at int64, ok bool) {
	t, ok := r.entered(l, n.location, n.call)
	return t + r.in.flights[n.flight].lag, ok
}

// all returns when the last has arrived at an instance.
func (r *replay) all(l trace.LocationID, row uint32) (at int64, ok bool) {
	a := r.arrivals.Ptr(int(row))
	if a.arriving < r.instances.Ptr(int(row)).arriving {
		r.turns.AwaitGroup(int(l), &a.waiting)
		return 0, false
	}
	return a.last, true
}

// before returns when the last of those has arrived who are members before a part, at least
// at.
func (r *replay) before(l trace.LocationID, p *part, at int64) (int64, bool) {
	for k := r.t.Collectives.Ptr(int(p.instance)).First; k < p.member; k++ {
		if r.members.At(int(k))&arrives == 0 {
			continue
		}
		m := r.t.Members.Ptr(int(k))
		t, ok := r.entered(l, m.Location, m.Call)
		if !ok {
			return 0, false
		}
		at = max(at, t+m.Begin-r.t.Calls[m.Location].Ptr(int(m.Call)).Enter)
	}
	return at, true
}
