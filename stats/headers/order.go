package headers

import (
	"context"

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
//
//	waiting[l] are those that wait for location l; wake[l] is the smallest number of calls that one
//	of them needs it to have entered, 0 if there is none
type order struct {
	r       *run
	v       visitor
	next    []int // by location: the call that it is at
	entered []int // calls that it has entered
	waiting [][]waiter
	wake    []int
	ready   []trace.LocationID
	forced  int // calls that ended without all that they need
}

// A waiter goes on when a location has entered so many calls.
type waiter struct {
	location trace.LocationID
	calls    int
}

func newOrder(r *run, v visitor) *order {
	n := len(r.t.Calls)
	return &order{r: r, v: v, next: make([]int, n), entered: make([]int, n), waiting: make([][]waiter, n), wake: make([]int, n)}
}

// run visits all calls. Where nobody can go on, all who are left do without what they wait for.
func (o *order) run(ctx context.Context) error {
	for l := range o.next {
		if o.r.calls(trace.LocationID(l)) > 0 {
			o.ready = append(o.ready, trace.LocationID(l))
		}
	}
	left := o.ready
	for {
		if err := o.drain(ctx); err != nil {
			return err
		}
		left = o.unfinished(left)
		if len(left) == 0 {
			return nil
		}
		for _, l := range left {
			o.forced++
			o.v.complete(l, o.next[l])
			o.next[l]++
		}
		for _, l := range left { // the others have entered all their calls: nobody waits for them
			o.waiting[l], o.wake[l] = o.waiting[l][:0], 0
		}
		o.ready = left
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
	for n := 0; len(o.ready) > 0; n++ {
		l := o.ready[0]
		o.ready = o.ready[1:]
		for calls := o.r.calls(l); o.next[l] < calls && o.step(l); o.next[l]++ {
			if n++; n%1024 == 0 && ctx.Err() != nil {
				return ctx.Err()
			}
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return nil
}

// step enters the call that a location is at, and leaves it if all is there that it needs.
func (o *order) step(l trace.LocationID) bool {
	row := o.next[l]
	if o.entered[l] == row {
		o.v.enter(l, row)
		o.entered[l]++
		o.rouse(l)
	}
	ok := true
	o.v.needs(l, row, func(p place) bool {
		if o.entered[p.location] <= int(p.call) {
			o.await(l, p)
			ok = false
		}
		return ok
	})
	if ok {
		o.v.complete(l, row)
	}
	return ok
}

// await says that a location goes on when a call has been entered.
func (o *order) await(l trace.LocationID, p place) {
	calls := int(p.call) + 1
	o.waiting[p.location] = append(o.waiting[p.location], waiter{l, calls})
	if o.wake[p.location] == 0 || calls < o.wake[p.location] {
		o.wake[p.location] = calls
	}
}

// rouse lets those go on that waited for the calls that a location has entered by now.
func (o *order) rouse(l trace.LocationID) {
	if o.wake[l] == 0 || o.entered[l] < o.wake[l] {
		return
	}
	kept := o.waiting[l][:0]
	o.wake[l] = 0
	for _, w := range o.waiting[l] {
		if w.calls <= o.entered[l] {
			o.ready = append(o.ready, w.location)
			continue
		}
		kept = append(kept, w)
		if o.wake[l] == 0 || w.calls < o.wake[l] {
			o.wake[l] = w.calls
		}
	}
	o.waiting[l] = kept
}
