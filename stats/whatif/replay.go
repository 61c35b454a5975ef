package whatif

import (
	"context"
	"fmt"
	"strings"

	"tracekit/spill"
	"tracekit/stats/causal"
	"tracekit/trace"
)

// A replay finds all times anew, in causal order. The clocks of its input become those times.
type replay struct {
	*Model
	in       input
	state    []state
	meetings *spill.Table[causal.Meeting] // by instance
	schedule *causal.Schedule
	waits    []*spill.Table[int64]   // by location and row: how long it waits; nil: not asked for
	order    *spill.Table[passedRow] // in which rows are passed; nil: not asked for
}

// An input is what a replay begins with, by location: that of the model, or changed.
type input struct {
	locations []location
	clocks    []clockTable
	ends      []int64
	left      []int64                 // costs of measuring that were not removed
	early     []clockTable            // by call: how much earlier its wait ends; nil: as the model says
	longer    []clockTable            // by call: by how much its own time is longer; nil: not asked for
	stretches []*spill.Table[stretch] // by location: what changes between calls; nil: not asked for
	transfers []*spill.Table[uint32]  // by location and call: the flight that its own time grows with, 0: none; nil: not asked for
	flights   []flight
	series    [][]series // that take messages as they come; nil: none
	own       []location // of locations, those with tables of their own
}

// A state is the row that a location is at.
type state struct {
	rows   spill.Cursor[row]
	needs  spill.Cursor[need]
	parts  spill.Cursor[part]
	at     row
	after  row     // the one behind it
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
	return &replay{Model: m, in: in, state: make([]state, len(in.locations))}
}

func (r *replay) runAll(ctx context.Context) error {
	r.schedule = causal.New(r, len(r.in.locations))
	r.schedule.Scan(r.t.Store, r.t.Members.Len(), r.arriving)
	defer r.schedule.Release()
	r.meetings = spill.NewTable[causal.Meeting](r.t.Store)
	defer r.meetings.Release()
	for _, rows := range r.instances.Rows {
		r.meetings.AppendRows(rows)
	}
	for l := range r.in.locations {
		x, s := &r.in.locations[l], &r.state[l]
		rows := x.rows
		s.rows, s.needs, s.parts = rows.Cursor(), x.needs.Cursor(), x.parts.Cursor()
		r.schedule.Start(trace.LocationID(l), rows.Len(), r.in.clocks[l], 0)
	}
	if err := r.schedule.Run(ctx); err != nil {
		return err
	}
	return r.stuck()
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
	return "the replay cannot finish: " + strings.Join(calls, ", ") + wait + " for calls of other ranks that never come"
}

// stuckNames is how many calls a StuckError names.
const stuckNames = 4

func (r *replay) stuck() error {
	var e StuckError
	for l, step := range r.schedule.Stuck {
		if len(e.Calls) == stuckNames {
			e.More++
			continue
		}
		call := r.in.locations[l].rows.Ptr(step).call
		e.Calls = append(e.Calls, StuckCall{l, call, r.t.Defs.RegionLabel(r.t.Tree.Region(r.t.Calls[l].Ptr(int(call)).Path))})
	}
	if e.Calls == nil {
		return nil
	}
	return &e
}

// Enter implements causal.Visitor: the steps are rows. Their needs are those of the row, or one if it takes messages
// as they come, and its parts.
func (r *replay) Enter(l trace.LocationID, step int) (needs int) {
	s, x := &r.state[l], &r.in.locations[l]
	if s.at = s.after; step == 0 {
		s.at = *s.rows.Ptr(0)
	}
	if step+1 < x.rows.Len() {
		s.after = *s.rows.Ptr(step + 1)
	} else {
		s.after = x.rowAfter(step)
	}
	if s.at.before {
		r.schedule.Prepare(l, s.at.call)
		return int(s.after.needs - s.at.needs)
	}
	at := r.schedule.Enter(l, s.at.call)
	for k := s.at.parts; k < s.after.parts; k++ {
		if p := s.parts.Ptr(int(k)); p.does&arrives != 0 {
			r.schedule.Arrive(r.meetings.Ptr(int(p.instance)), at+p.head)
		}
	}
	return int(s.after.needs - s.at.needs + s.after.parts - s.at.parts)
}

// Need implements causal.Visitor.
func (r *replay) Need(l trace.LocationID, step, k int) (at int64, ok bool) {
	at, ok = r.need(l, step, k)
	if early := r.in.early[l]; early != nil && ok && at != causal.Anytime {
		at -= early.At(int(r.state[l].at.call))
	}
	return at, ok
}

// need returns when a need is met, by the model.
func (r *replay) need(l trace.LocationID, step, k int) (at int64, ok bool) {
	s := &r.state[l]
	if needs := int(s.after.needs - s.at.needs); k < needs {
		if r.inSeries(l, step) { // the row has this need alone
			return r.taken(l, step)
		}
		return r.met(l, s.needs.Ptr(int(s.at.needs)+k))
	} else {
		k -= needs
	}
	p := s.parts.Ptr(int(s.at.parts) + k)
	switch {
	case p.does&awaits != 0:
		at, ok = r.schedule.All(l, r.meetings.Ptr(int(p.instance)))
	case p.does&follows != 0:
		at, ok = r.schedule.Before(l, r.t.Collectives.Ptr(int(p.instance)), p.member)
		at = max(at, r.schedule.At(l, s.at.call)+p.head)
	default:
		return causal.Anytime, true
	}
	return at + r.in.flights[p.flight].lag - p.head, ok
}

// Leave implements causal.Visitor.
func (r *replay) Leave(l trace.LocationID, step int, wait int64) error {
	if r.schedule.Shift(l) > mostChange {
		return errEndless
	}
	if r.waits != nil {
		r.waits[l].Set(step, wait)
	}
	if r.order != nil {
		r.order.Append(passedRow{l, uint32(step)})
	}
	return nil
}

// met returns when a need is met; ok is false, and l waits, if that is not known yet.
func (r *replay) met(l trace.LocationID, n *need) (at int64, ok bool) {
	if !r.schedule.Entered(l, n.location, n.call) {
		return 0, false
	}
	return r.schedule.At(n.location, n.call) + r.in.flights[n.flight].lag, true
}

// arriving returns the member of a scan for whom others wait.
func (m *Model) arriving(row uint32) (causal.Member, bool) {
	x := m.t.Members.Ptr(int(row))
	if m.members.At(int(row))&arrives == 0 {
		return causal.Member{}, false
	}
	return causal.Member{Location: x.Location, Call: x.Call, Head: x.Begin - m.t.Calls[x.Location].Ptr(int(x.Call)).Enter}, true
}
