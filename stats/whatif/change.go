package whatif

import (
	"fmt"
	"math"

	"tracekit/stats"
	"tracekit/trace"
)

// A Place is a set of call paths: stats.PathOutside and those of the trace's tree. Time in a
// call path is its own, without that of the regions below and without waits.
type Place func(trace.PathID) bool

// A Change is one of those below. Changes that are made together act each on the times of the
// run: balanced times are those of the run, and factors of one call path multiply.
type Change struct {
	kind   changeKind
	place  Place
	ranks  []uint32 // empty: all
	factor float64
}

type changeKind uint8

const (
	scale changeKind = iota
	balance
	speed
)

// Scale makes the time in a place factor times as long, on some ranks (none given: all).
func Scale(place Place, factor float64, ranks ...uint32) Change {
	return Change{kind: scale, place: place, factor: factor, ranks: ranks}
}

// Balance gives each rank the mean over all ranks of the time in a place. What is taken
// together is a visit between two calls, or a call: the first of each rank, the second …; the
// mean is over those ranks that have so many.
func Balance(place Place) Change { return Change{kind: balance, place: place} }

// RankSpeed makes some ranks compute that many times as fast: all their time outside MPI.
func RankSpeed(factor float64, ranks ...uint32) Change {
	return Change{kind: speed, ranks: ranks, factor: factor}
}

// A plan is what all changes together do.
type plan struct {
	*Model
	changes []planned
	touched []bool // by slot
	own     bool   // own times of calls may be among them
}

// A planned change has its place by slot.
type planned struct {
	Change
	slots []bool
	on    []bool  // by world rank; nil: all
	means []int64 // of a balanced place, by ordinal
}

// slot returns the index of a call path in tables: time outside any region follows the tree.
// Other paths have none: len(tree)+1.
func (m *Model) slot(p trace.PathID) int {
	if n := len(m.t.Tree.Nodes); int(p) < n {
		return int(p)
	} else if p == stats.PathOutside {
		return n
	} else {
		return n + 1
	}
}

func (m *Model) plan(changes []Change) (*plan, error) {
	n := len(m.t.Tree.Nodes)
	p := &plan{Model: m, touched: make([]bool, n+2)}
	var mpi []trace.MPIFunction
	balanced := make([]bool, n+2)
	for _, c := range changes {
		if math.IsNaN(c.factor) || c.factor < 0 || math.IsInf(c.factor, 0) || c.kind == speed && c.factor == 0 {
			return nil, fmt.Errorf("a factor of %v makes no sense", c.factor)
		}
		x := planned{Change: c, slots: make([]bool, n+2)}
		if c.kind == speed && mpi == nil {
			mpi = m.t.Defs.MPIFunctions()
		}
		for s := range n + 1 {
			path := trace.PathID(s)
			if s == n {
				path = stats.PathOutside
			}
			x.slots[s] = c.kind == speed && !m.inMPI(mpi, path) || c.kind != speed && c.place(path)
			if c.kind == balance && balanced[s] {
				x.slots[s] = false // the same work can be shared once
			}
			balanced[s] = balanced[s] || c.kind == balance && x.slots[s]
			p.touched[s] = p.touched[s] || x.slots[s]
		}
		if len(c.ranks) > 0 {
			x.on = make([]bool, len(m.t.World))
			for _, r := range c.ranks {
				if int(r) >= len(x.on) {
					return nil, fmt.Errorf("there is no rank %d, the trace has %d", r, len(x.on))
				}
				x.on[r] = true
			}
		}
		p.changes = append(p.changes, x)
	}
	for i := range p.changes {
		if p.changes[i].kind == balance {
			p.changes[i].means = m.means(p.changes[i].slots)
		}
	}
	return p, nil
}

// inMPI reports whether a call path ends in an MPI function or below one.
func (m *Model) inMPI(mpi []trace.MPIFunction, p trace.PathID) bool {
	for ; int(p) < len(m.t.Tree.Nodes); p = m.t.Tree.Nodes[p].Parent {
		if r := m.t.Tree.Nodes[p].Region; int(r) < len(mpi) && mpi[r].Class != trace.ClassNone {
			return true
		}
	}
	return false
}

// A visit is what passes on a location between two calls, or as own time of one. walk calls
// piece with each time above 0 in some call paths, and end when a visit is over, with the call
// that is entered or left then. The time from the Enter of a call until its part in a
// collective begins is left out.
func (m *Model) walk(l trace.LocationID, slots []bool, piece func(slot int, time int64), end func(call uint32)) {
	own := ownTimes{Model: m, l: l}
	for call, s := range m.segments[l].All() {
		if call != trace.None {
			end(call)
		}
		if slot := m.slot(s.Path); slots[slot] {
			if call != trace.None {
				s.Time = own.of(call)
			}
			if s.Time > 0 {
				piece(slot, s.Time)
			}
		}
		if call != trace.None {
			end(trace.None)
		}
	}
	end(trace.None)
}

// ownTimes finds the own times of calls in ascending order.
type ownTimes struct {
	*Model
	l   trace.LocationID
	row int // the next one
}

// of returns the own time of a call until it is left or calls another one.
func (x *ownTimes) of(call uint32) int64 {
	calls, loc := x.t.Calls[x.l], &x.locations[x.l]
	c := calls.Ptr(int(call))
	own := c.Leave - c.Enter
	if int(call)+1 < calls.Len() {
		own = min(own, calls.Ptr(int(call)+1).Enter-c.Enter)
	}
	for x.row < loc.rows.Len() && loc.rows.Ptr(x.row).call < call {
		x.row++
	}
	if x.row == loc.rows.Len() || loc.rows.Ptr(x.row).call != call {
		return own
	}
	r, end, head := loc.rows.Ptr(x.row), loc.parts.Len(), int64(0)
	if x.row+1 < loc.rows.Len() {
		end = int(loc.rows.Ptr(x.row + 1).parts)
	}
	for k := int(r.parts); k < end; k++ {
		head = max(head, loc.parts.Ptr(k).head)
	}
	return own - r.wait - head
}

// balances reports whether a location counts where ranks share their work: it is a master.
func (m *Model) balances(l trace.LocationID) bool {
	return int(m.t.Rank[l]) < len(m.t.World) && m.t.World[m.t.Rank[l]] == l
}

// means returns the mean over ranks of their first, second … visits to a place.
func (m *Model) means(slots []bool) (sums []int64) {
	var counts []int64
	for l := range m.locations {
		if !m.balances(trace.LocationID(l)) {
			continue
		}
		k, sum := 0, int64(0)
		m.walk(trace.LocationID(l), slots, func(_ int, time int64) { sum += time }, func(uint32) {
			if sum == 0 {
				return
			}
			if k == len(sums) {
				sums, counts = append(sums, 0), append(counts, 0)
			}
			sums[k] += sum
			counts[k]++
			k, sum = k+1, 0
		})
	}
	for k := range sums {
		sums[k] = (sums[k] + counts[k]/2) / counts[k]
	}
	return sums
}

// shift moves the times at which a location enters its calls, waits left out, and returns by
// how much its end moves.
func (p *plan) shift(l trace.LocationID, clocks clockTable) int64 {
	x := p.shifter(l)
	if x == nil {
		return 0
	}
	p.walk(l, p.touched, x.pass, func(call uint32) {
		x.endVisit()
		if call != trace.None {
			*clocks.Ptr(int(call)) += x.moved
		}
	})
	return x.moved
}

// A shifter follows one location through its segments.
type shifter struct {
	*plan
	l       trace.LocationID
	changes []planned // on this rank
	moved   int64
	visit   []passed    // the present one
	ordinal map[int]int // by change
}

// passed is time in a call path.
type passed struct {
	slot int
	time int64
}

// shifter returns nil if nothing changes on a location.
func (p *plan) shifter(l trace.LocationID) *shifter {
	x := &shifter{plan: p, l: l, ordinal: make(map[int]int)}
	rank := p.t.Rank[l]
	for _, c := range p.changes {
		if c.kind == balance && !p.balances(l) {
			continue
		}
		if c.on == nil || int(rank) < len(c.on) && c.on[rank] {
			x.changes = append(x.changes, c)
		}
	}
	if x.changes == nil {
		return nil
	}
	return x
}

// pass takes note of time in a place that changes.
func (x *shifter) pass(slot int, time int64) { x.visit = append(x.visit, passed{slot, time}) }

// endVisit changes the times of a visit: that of a call, or of all between two.
func (x *shifter) endVisit() {
	if len(x.visit) == 0 {
		return
	}
	for _, v := range x.visit {
		x.moved -= v.time
	}
	for i := range x.changes {
		if c := &x.changes[i]; c.kind == balance {
			x.balance(i, c)
		}
	}
	for _, v := range x.visit {
		time := float64(v.time)
		for i := range x.changes {
			switch c := &x.changes[i]; {
			case !c.slots[v.slot]:
			case c.kind == scale:
				time *= c.factor
			case c.kind == speed:
				time /= c.factor
			}
		}
		if time == float64(v.time) {
			x.moved += v.time
		} else {
			x.moved += int64(math.Round(time))
		}
	}
	x.visit = x.visit[:0]
}

// balance gives a visit to a place that is balanced the mean, spread over its parts.
func (x *shifter) balance(i int, c *planned) {
	sum := int64(0)
	for _, v := range x.visit {
		if c.slots[v.slot] {
			sum += v.time
		}
	}
	if sum == 0 {
		return
	}
	mean, before, given := c.means[x.ordinal[i]], int64(0), int64(0)
	x.ordinal[i]++
	for k := range x.visit {
		v := &x.visit[k]
		if !c.slots[v.slot] {
			continue
		}
		before += v.time
		until := int64(math.Round(float64(mean) * float64(before) / float64(sum)))
		v.time, given = until-given, until
	}
}
