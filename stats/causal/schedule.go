// Package causal replays the locations of a trace in causal order. It decides which location runs next, and finds when
// calls are entered if each waits for its needs. A Visitor defines the needs.
package causal

import (
	"context"
	"math"

	"tracekit/spill"
	"tracekit/trace"
)

// A Visitor defines a replay. The steps of a location are calls, or what happens before a call.
type Visitor interface {
	// Enter begins a step and returns the number of its needs. It calls Schedule.Enter, Prepare or Reach.
	Enter(l trace.LocationID, step int) (needs int)

	// Need returns the time in ticks at which a need is met; ok is false if the location must wait for that time.
	// Then one of Schedule.Entered, All and Before has returned false, and Need is called again later.
	Need(l trace.LocationID, step, need int) (at int64, ok bool)

	// Leave ends a step, which has waited that many ticks for its needs. An error ends the replay.
	Leave(l trace.LocationID, step int, wait int64) error
}

// Anytime is when a need is met that requires no wait: a tick before all times of a trace.
const Anytime = math.MinInt64 / 2

// A Schedule runs locations one after the other, each until it must wait for another one. One goroutine uses it.
type Schedule struct {
	visitor   Visitor
	turns     turns // of locations, by calls that they have entered; after them, of scans
	locations []position
	scans     scans
}

// A position is how far one location is. It is inside a step between Visitor.Enter and Visitor.Leave.
//
//	clocks holds the ticks at which calls are entered; of calls that are not entered yet, without waits
type position struct {
	step, steps int
	need, needs int
	inside      bool
	entered     int64 // the time of entering the step
	met         int64 // the latest time of the needs before need, at least entered
	shift       int64 // all waits
	calls       int   // with clocks
	clocks      spill.Cursor[int64]
}

// New returns a schedule of n locations. Those take part for which Start is called.
func New(v Visitor, n int) *Schedule {
	return &Schedule{visitor: v, turns: turns{sequences: make([]sequence, n)}, locations: make([]position, n)}
}

// Start lets a location begin. Clocks holds, by call, the ticks until it is entered without waits. The replay adds
// shift and the waits. Clocks is nil in a replay without times.
func (s *Schedule) Start(l trace.LocationID, steps int, clocks *spill.Table[int64], shift int64) {
	s.locations[l] = position{steps: steps, calls: clocks.Len(), clocks: clocks.Cursor(), shift: shift}
	s.turns.start(int(l))
}

// Run replays until nobody can go on: see Stuck. Errors are those of the context and of Visitor.Leave.
func (s *Schedule) Run(ctx context.Context) error {
	for n := 0; ; n++ {
		if n%1024 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		i, ok := s.turns.pop()
		switch {
		case !ok:
			return ctx.Err()
		case i >= len(s.locations):
			s.goOver(i - len(s.locations))
			continue
		}
		p := &s.locations[i]
		for p.step < p.steps && s.meet(trace.LocationID(i), p) {
			if err := s.leave(trace.LocationID(i), p, p.met-p.entered); err != nil {
				return err
			}
			if n++; n%1024 == 0 && ctx.Err() != nil {
				return ctx.Err()
			}
		}
		if p.step == p.steps {
			s.Reach(trace.LocationID(i), p.calls)
		}
	}
}

// meet enters the step of a location, unless it is inside, and reports whether all needs are met.
func (s *Schedule) meet(l trace.LocationID, p *position) bool {
	if !p.inside {
		p.inside, p.need = true, 0
		p.needs = s.visitor.Enter(l, p.step)
		p.met = p.entered
	}
	for ; p.need < p.needs; p.need++ {
		at, ok := s.visitor.Need(l, p.step, p.need)
		if !ok {
			return false
		}
		p.met = max(p.met, at)
	}
	return true
}

// leave ends the step of a location.
func (s *Schedule) leave(l trace.LocationID, p *position, wait int64) error {
	p.inside, p.shift, p.step = false, p.shift+wait, p.step+1
	return s.visitor.Leave(l, p.step-1, wait)
}

// Stuck iterates over the locations that wait for what never happens, and their steps.
func (s *Schedule) Stuck(yield func(l trace.LocationID, step int) bool) {
	for l := range s.locations {
		if p := &s.locations[l]; p.step < p.steps && !yield(trace.LocationID(l), p.step) {
			return
		}
	}
}

// Force ends the steps of the locations that are stuck, and reports whether there are any. Run continues after it.
// Force is for replays that wait by Entered alone.
func (s *Schedule) Force() (any bool, err error) {
	var stuck []trace.LocationID
	for l := range s.Stuck {
		stuck = append(stuck, l)
	}
	for _, l := range stuck {
		if err := s.leave(l, &s.locations[l], 0); err != nil {
			return false, err
		}
	}
	for _, l := range stuck { // the others have entered all their calls: nobody waits for them
		s.turns.forget(int(l))
		s.turns.start(int(l))
	}
	return stuck != nil, nil
}

// Shift returns the ticks that a location has waited so far, and the shift of its start.
func (s *Schedule) Shift(l trace.LocationID) int64 { return s.locations[l].shift }

// Reach notes that a location has entered its first calls, and fixes their times.
func (s *Schedule) Reach(l trace.LocationID, calls int) {
	if p := &s.locations[l]; p.shift != 0 && p.calls > 0 {
		for i := s.turns.sequences[l].reached; i < calls; i++ {
			*p.clocks.Ptr(i) += p.shift
		}
	}
	s.turns.reach(int(l), calls)
}

// Enter makes the step of a location a call, and returns the tick at which the location enters it.
func (s *Schedule) Enter(l trace.LocationID, call uint32) (at int64) {
	s.Reach(l, int(call)+1)
	p := &s.locations[l]
	p.entered = *p.clocks.Ptr(int(call))
	return p.entered
}

// Prepare makes the step of a location what happens before a call.
func (s *Schedule) Prepare(l trace.LocationID, call uint32) {
	s.Reach(l, int(call))
	p := &s.locations[l]
	p.entered = *p.clocks.Ptr(int(call)) + p.shift
}

// At returns the tick at which a location has entered a call.
func (s *Schedule) At(l trace.LocationID, call uint32) int64 {
	return *s.locations[l].clocks.Ptr(int(call))
}

// Entered reports whether another location has entered a call; if not, l waits until it does.
func (s *Schedule) Entered(l, other trace.LocationID, call uint32) bool {
	if s.turns.sequences[other].reached <= int(call) {
		s.turns.await(int(l), int(other), int(call)+1)
		return false
	}
	return true
}

// A Meeting is where locations wait for the last one to arrive. At the zero value nobody is expected.
type Meeting struct {
	Last              int64  // tick of the latest arrival
	Expected, arrived uint32 // numbers of locations
	waiting           group
}

// Expect adds one who will arrive. Last is the latest time that Expect was given, until the first one arrives.
func (m *Meeting) Expect(at int64) {
	if m.Expected++; m.Expected == 1 || at > m.Last {
		m.Last = at
	}
}

// Arrive notes that a location arrives at a meeting, at a tick.
func (s *Schedule) Arrive(m *Meeting, at int64) {
	if m.arrived++; m.arrived == 1 || at > m.Last {
		m.Last = at
	}
	if m.arrived == m.Expected {
		s.turns.complete(&m.waiting)
	}
}

// All returns the tick at which the last one has arrived at a meeting, Anytime if nobody is expected. While one is
// missing, ok is false and l waits.
func (s *Schedule) All(l trace.LocationID, m *Meeting) (at int64, ok bool) {
	switch {
	case m.arrived < m.Expected:
		s.turns.awaitGroup(int(l), &m.waiting)
		return 0, false
	case m.arrived == 0:
		return Anytime, true
	}
	return m.Last, true
}
