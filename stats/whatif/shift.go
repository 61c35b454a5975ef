package whatif

import (
	"errors"
	"math"

	"tracekit/spill"
	"tracekit/trace"
)

// shift moves the times at which a location enters its calls, waits left out, and returns by
// how much its end moves, and what of the costs of measuring could not be removed. It notes in early
// how much earlier than the model says the waits of calls end; in own, unless that is nil, how much longer
// the calls' own times are; likewise in stretches what changes between calls, and in growing the flights that
// own times grow with.
func (p *plan) shift(l trace.LocationID, clocks, early, own clockTable, stretches *spill.Table[stretch],
	growing *spill.Table[uint32]) (moved, left int64, err error) {
	x := p.shifter(l)
	if x == nil {
		return 0, 0, nil
	}
	x.clocks, x.early, x.longer, x.stretches, x.growing = clocks, early, own, stretches, growing
	if len(x.changes) > 0 {
		p.walk(l, p.touched, x.pass, x.endVisit)
		x.move(clocks.Len())
	}
	moved = x.moved
	if x.moved, x.shifted = 0, 0; x.more != nil || x.overlap != nil {
		x.transfers()
		x.move(clocks.Len())
	}
	if moved += x.moved; !x.endless && moved <= mostChange && x.loads != nil {
		x.moved, x.shifted = 0, 0
		left = x.measure()
		x.move(clocks.Len())
		moved += x.moved
	}
	if x.endless || moved > mostChange {
		return 0, 0, errEndless
	}
	return moved, left, nil
}

// move moves the times at which calls are entered, up to one, by what has changed before.
func (x *shifter) move(until int) {
	for i := x.shifted; x.moved != 0 && i < until; {
		rows := x.clocks.From(i)
		rows = rows[:min(len(rows), until-i)]
		for k := range rows {
			rows[k] += x.moved
		}
		i += len(rows)
	}
	x.shifted = until
}

// lengthen notes by how much the own time of a call is longer.
func (x *shifter) lengthen(call uint32, by int64) {
	if x.longer != nil && call != trace.None {
		*x.longer.Ptr(int(call)) += by
	}
}

// mostChange is by how many ticks changes may move a time, all of one kind together: so that times,
// what moves them and what they wait for can be added.
const mostChange = 1 << 60

var errEndless = errors.New("with these changes the run time does not fit into 64 bits")

// A shifter follows one location through its segments.
type shifter struct {
	*plan
	l       trace.LocationID
	changes []planned // on this rank
	moved   int64
	endless bool        // it would move by more than mostChange
	visit   []passed    // the present one
	was     []int64     // its times before
	ordinal map[int]int // by change

	clocks    clockTable // those of calls before shifted are moved
	shifted   int
	early     clockTable            // how much earlier than the model says the waits of calls end
	longer    clockTable            // nil: not asked for
	stretches *spill.Table[stretch] // nil: not asked for
	growing   *spill.Table[uint32]  // likewise
}

// passed is time in a call path.
type passed struct {
	slot   int
	visits int
	time   int64
}

// shifter returns nil if nothing changes on a location.
func (p *plan) shifter(l trace.LocationID) *shifter {
	x := &shifter{plan: p, l: l, ordinal: make(map[int]int)}
	rank := p.t.Rank[l]
	for _, c := range p.changes {
		if (c.kind == balance || c.each != nil) && !p.balances(l) {
			continue
		}
		if c.each != nil {
			c.factor = 1
			if int(rank) < len(c.each) {
				c.factor = c.each[rank]
			}
		}
		if c.on == nil || int(rank) < len(c.on) && c.on[rank] {
			x.changes = append(x.changes, c)
		}
	}
	if x.changes == nil && p.more == nil && p.overlap == nil && p.loads == nil {
		return nil
	}
	return x
}

// pass takes note of time in a place that changes.
func (x *shifter) pass(p passed) { x.visit = append(x.visit, p) }

// endVisit changes the times of a visit: that of a call, or of all between two.
func (x *shifter) endVisit(call uint32, entered int) {
	x.move(entered)
	before := x.moved
	x.was = x.was[:0]
	for _, v := range x.visit {
		x.moved -= v.time
		x.was = append(x.was, v.time)
	}
	for i := range x.changes {
		switch c := &x.changes[i]; c.kind {
		case balance:
			x.balance(i, c)
		case shorten:
			x.shorten(c)
		}
	}
	for k, v := range x.visit {
		time := float64(v.time)
		for i := range x.changes {
			switch c := &x.changes[i]; {
			case !c.slots[v.slot]:
			case c.kind == limit && call != trace.None && (c.except == nil || !c.except(x.l, call)):
				time = min(time, x.most(call))
			case c.kind == scale || c.kind == shorten:
				time *= c.factor
			case c.kind == speed:
				time /= c.factor
			}
		}
		switch {
		case time == float64(v.time):
			x.moved += v.time
		case float64(x.moved)+time > mostChange:
			x.endless = true
		default:
			x.moved += int64(math.Round(time))
		}
		if x.stretches != nil && call == trace.None {
			x.stretches.Append(stretch{uint32(entered), uint32(v.slot), x.was[k], int64(math.Round(min(time, mostChange)))})
		}
	}
	x.visit = x.visit[:0]
	x.lengthen(call, x.moved-before)
}

// shorten finds the factor of the present visit.
func (x *shifter) shorten(c *planned) {
	sum := int64(0)
	for _, v := range x.visit {
		if c.slots[v.slot] {
			sum += v.time
		}
	}
	if c.factor = 1; sum > 0 && sum >= c.above {
		c.factor = float64(c.to) / float64(sum)
	}
}

// balance gives a visit to a place that is balanced the mean, spread over its parts.
func (x *shifter) balance(i int, c *planned) {
	n, sum := 0, int64(0)
	for _, v := range x.visit {
		if c.slots[v.slot] {
			n, sum = n+v.visits, sum+v.time
		}
	}
	if sum == 0 {
		return
	}
	if !c.byVisit {
		n = 1
	}
	mean, before, given := 0.0, int64(0), int64(0)
	for range n {
		mean += float64(c.means[x.ordinal[i]])
		x.ordinal[i]++
	}
	for k := range x.visit {
		v := &x.visit[k]
		if !c.slots[v.slot] {
			continue
		}
		before += v.time
		until := int64(math.Round(mean * float64(before) / float64(sum)))
		v.time, given = until-given, until
	}
}

// most returns what a call may take if its kind needs no more.
func (x *shifter) most(call uint32) float64 {
	ns, ok := x.overhead.At(x.l, int(call))
	if !ok {
		return math.Inf(1)
	}
	c := x.t.Calls[x.l].Ptr(int(call))
	return max(0, float64(c.Leave-c.Enter)-float64(ns)*float64(x.t.Defs.Clock.Resolution)/1e9)
}

// transfers changes what the network takes of the own times of calls.
func (x *shifter) transfers() {
	loc := &x.locations[x.l]
	own := x.ownTimes(x.l, 0)
	rows, needs, parts := loc.rows.Cursor(), loc.needs.Cursor(), loc.parts.Cursor()
	last := uint32(trace.None)
	for i, n := 0, loc.rows.Len(); i < n; i++ {
		r := *rows.Ptr(i)
		if r.call == last {
			continue
		}
		last = r.call
		after := row{needs: uint32(loc.needs.Len()), parts: uint32(loc.parts.Len())}
		if i+1 < n {
			after = *rows.Ptr(i + 1)
		}
		more, by, moves := int64(0), uint32(0), x.moves(x.l, r.call) // of all that it needs what changes most
		consider := func(flight uint32) {
			change := int64(0)
			if x.more != nil {
				change = x.more[flight]
			}
			if moves {
				change = x.network.inLag(&x.network.flights[flight]) - x.network.flights[flight].wire
			}
			if more == 0 && by == 0 || max(change, -change) > max(more, -more) {
				if more, by = change, 0; !moves && x.flights[flight].inOwn() {
					by = flight
				}
			}
		}
		for k := r.needs; k < after.needs; k++ {
			consider(needs.Ptr(int(k)).flight)
		}
		for k := r.parts; k < after.parts; k++ {
			consider(parts.Ptr(int(k)).flight)
		}
		if more == 0 && x.growing == nil {
			continue
		}
		own.row = i
		time := own.of(r.call)
		if time <= 0 {
			continue
		}
		if x.growing != nil && more > -time {
			x.growing.Set(int(r.call), by)
		}
		more = max(more, -time)
		x.move(int(r.call) + 1)
		x.moved += more
		x.endless = x.endless || x.moved > mostChange
		x.lengthen(r.call, more)
	}
}
