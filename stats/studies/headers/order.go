package headers

import (
	"context"

	"tracekit/engine"
	"tracekit/trace"
)

// A place is a call of a location.
type place struct {
	location trace.LocationID
	call     uint32
}

// A visitor sees the calls of all locations in causal order.
type visitor interface {
	// enter says that a location enters a call.
	enter(l trace.LocationID, row int)

	// needs calls need for the calls that must be entered before the call that the location is
	// in can end, until need returns false.
	needs(l trace.LocationID, row int, need func(place) bool)

	// complete says that a location leaves a call. All that it needs was entered, unless calls
	// wait for each other in a circle.
	complete(l trace.LocationID, row int)
}

// order brings the calls of locations into a causal order: each location runs until a call of
// it needs another one that was not entered yet.
type order struct {
	r     *run
	v     visitor
	next  []int         // by location: the call that it is at
	turns *engine.Turns // of locations, by calls that they have entered
}

func newOrder(r *run, v visitor) *order {
	n := len(r.t.Calls)
	return &order{r: r, v: v, next: make([]int, n), turns: engine.NewTurns(n)}
}

// run visits all calls. Where nobody can go on, all who are left do without what they wait for.
func (o *order) run(ctx context.Context) error {
	var left []trace.LocationID
	for l := range o.next {
		if o.r.calls(trace.LocationID(l)) > 0 {
			left = append(left, trace.LocationID(l))
		}
	}
	for {
		for _, l := range left {
			o.turns.Start(int(l))
		}
		if err := o.drain(ctx); err != nil {
			return err
		}
		left = o.unfinished(left)
		if len(left) == 0 {
			return nil
		}
		for _, l := range left {
			o.v.complete(l, o.next[l])
			o.next[l]++
		}
		for _, l := range left { // the others have entered all their calls: nobody waits for them
			o.turns.Forget(int(l))
		}
	}
}

// unfinished returns those of some locations that have calls left.
func (o *order) unfinished(of []trace.LocationID) (left []trace.LocationID) {
	for _, l := range of {
		if o.next[l] < o.r.calls(l) {
			left = append(left, l)
		}
	}
	return left
}

// drain lets go on who can.
func (o *order) drain(ctx context.Context) error {
	for n := 0; ; n++ {
		i, ok := o.turns.Next()
		if !ok {
			return nil
		}
		l := trace.LocationID(i)
		for calls := o.r.calls(l); o.next[l] < calls && o.step(l); o.next[l]++ {
			if n++; n%1024 == 0 && ctx.Err() != nil {
				return ctx.Err()
			}
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
}

// step enters the call that a location is at, and leaves it if all is there that it needs.
func (o *order) step(l trace.LocationID) bool {
	row := o.next[l]
	if o.turns.Steps(int(l)) == row {
		o.v.enter(l, row)
		o.turns.Reach(int(l), row+1)
	}
	ok := true
	o.v.needs(l, row, func(p place) bool {
		if o.turns.Steps(int(p.location)) <= int(p.call) {
			o.turns.Await(int(l), int(p.location), int(p.call)+1)
			ok = false
		}
		return ok
	})
	if ok {
		o.v.complete(l, row)
	}
	return ok
}
