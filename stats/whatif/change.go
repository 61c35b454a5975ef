package whatif

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"tracekit/document/field"
	"tracekit/stats/measurement"
	"tracekit/stats/profile"
	"tracekit/trace"
)

// A Place is a set of call paths: stats.PathOutside, stats.PathFlush and those of the trace's tree. Time in a
// call path is its own, without that of the regions below and without waits.
type Place func(trace.PathID) bool

// A Change is one of those below. Changes that are made together act each on the times of the
// run: balanced times are those of the run, and factors of one call path multiply.
type Change struct {
	kind   changeKind
	place  Place
	ranks  []uint32 // empty: all
	factor float64
	each   []float64 // factors by rank, of masters; nil: factor

	above, to int64 // ticks: see Shorten

	latency, perByte float64 // ticks
	added            bool    // to what messages take

	loads measurement.Loads // that are added, or removed
	sign  int64

	except func(l trace.LocationID, call uint32) bool // calls that a limit leaves as they are; nil: none
}

type changeKind uint8

const (
	scale changeKind = iota
	balance
	limit
	speed
	shorten
	otherNetwork
	overlap
	anyOrder
	measure
)

// Scale makes the time in a place factor times as long, on some ranks (none given: all).
func Scale(place Place, factor float64, ranks ...uint32) Change {
	return Change{kind: scale, place: place, factor: factor, ranks: ranks}
}

// ScaleEach makes the time that the master of each rank spends in a place as many times as long
// as its factor says; factors are by rank, those that are not there 1.
func ScaleEach(place Place, factors []float64) Change {
	return Change{kind: scale, place: place, each: factors}
}

// Balance gives each rank the mean over ranks of the time in a place, visit by visit: the first
// of each rank, the second …, those of a rank that has no more of them left out. Where ranks do not
// visit it equally often, a visit is what passes between two calls, or in one.
func Balance(place Place) Change { return Change{kind: balance, place: place} }

// Cap lets calls in a place take no longer than their kind needs: t_max of DEFINITIONS 1.1, of
// which the analysis must have kept the overhead per call.
func Cap(place Place) Change { return Change{kind: limit, place: place} }

// CapBut is Cap that leaves some calls as they are. Several goroutines may call except.
func CapBut(place Place, except func(l trace.LocationID, call uint32) bool) Change {
	return Change{kind: limit, place: place, except: except}
}

// Shorten makes long visits to a place take to ticks, on some ranks. A visit is what passes there between two calls; one of above ticks or
// more is long.
func Shorten(place Place, above, to int64, ranks ...uint32) Change {
	return Change{kind: shorten, place: place, above: above, to: to, ranks: ranks}
}

// RankSpeed makes some ranks compute that many times as fast: all their time outside MPI.
func RankSpeed(factor float64, ranks ...uint32) Change {
	return Change{kind: speed, ranks: ranks, factor: factor}
}

// IdealNetwork makes the network cost nothing: what the shortest message of a size takes beyond the shortest calls that send and receive;
// what a collective takes longer the more it transfers.
func IdealNetwork() Change { return Change{kind: otherNetwork} }

// Network makes messages take a latency, in ns, and their bytes at a bandwidth, in bytes per
// second (0: no time).
func (m *Model) Network(latency, bandwidth float64) Change {
	perSecond := float64(m.t.Defs.Clock.Resolution)
	c := Change{kind: otherNetwork, latency: latency * perSecond / 1e9}
	if bandwidth > 0 {
		c.perByte = perSecond / bandwidth
	}
	return c
}

// Slower makes messages take so much longer, in ns, and each of their bytes: longer than recorded, or than on the
// network of another change.
func (m *Model) Slower(latency, perByte float64) Change {
	ticks := float64(m.t.Defs.Clock.Resolution) / 1e9
	return Change{kind: otherNetwork, added: true, latency: latency * ticks, perByte: perByte * ticks}
}

// Nonblocking lets the blocking sends and receives in a place overlap with what follows. What a
// receive waits for is waited for before the location's next call that sends or takes part in a
// collective; what a send waits for, before the next one from the same call path or in a
// collective.
func Nonblocking(place Place) Change { return Change{kind: overlap, place: place} }

// Order lets receives in a place that follow each other directly take messages as they come:
// the first of them the message that is there first.
func Order(place Place) Change { return Change{kind: anyOrder, place: place} }

// Measure adds what measuring costs, or removes it: as far as there is time to take it from.
func Measure(loads measurement.Loads, remove bool) Change {
	c := Change{kind: measure, loads: loads, sign: 1}
	if remove {
		c.sign = -1
	}
	return c
}

// A plan is what all changes together do.
type plan struct {
	*Model
	changes []planned
	touched []bool // by slot
	flights []flight
	wires   *wires   // nil: as recorded
	more    []int64  // by flight: how much longer own times are; nil: none
	loads   []Change // what measuring costs
	overlap []bool   // by slot: blocking calls that overlap; nil: none
	order   []bool   // by slot: receives that take messages as they come; nil: none
}

// A planned change has its place by slot.
type planned struct {
	Change
	slots   []bool
	on      []bool  // by world rank; nil: all
	means   []int64 // of a balanced place, by ordinal of the visit
	byVisit bool    // visits to its regions; false: what passes between two calls is one visit
}

// outside are the places outside the call tree. Their slots follow those of the tree.
var outside = [...]struct {
	path trace.PathID
	name string
}{{profile.PathOutside, field.OutsideRegions}, {profile.PathFlush, field.BufferFlush}}

// slot returns the index of a call path in tables; paths that no change can concern have the
// last, slots-1.
func (m *Model) slot(p trace.PathID) int {
	n := len(m.t.Tree.Nodes)
	if int(p) < n {
		return int(p)
	}
	for k, b := range outside {
		if p == b.path {
			return n + k
		}
	}
	return n + len(outside)
}

func (m *Model) slots() int { return len(m.t.Tree.Nodes) + len(outside) + 1 }

var errNoNetwork = errors.New("another network cannot be simulated, because no message shows the speed of this one")

func (m *Model) plan(changes []Change) (*plan, error) {
	p := &plan{Model: m, touched: make([]bool, m.slots()), flights: m.network.flights}
	balanced := make([]bool, m.slots())
	for _, c := range changes {
		for _, factor := range append(slices.Clone(c.each), c.factor) {
			if math.IsNaN(factor) || factor < 0 || math.IsInf(factor, 0) || c.kind == speed && factor == 0 {
				return nil, fmt.Errorf("factor %v is not valid", factor)
			}
		}
		if c.kind == limit && m.overhead == nil {
			return nil, errors.New("calls cannot be capped, because their overhead was not analyzed")
		}
		x := planned{Change: c, slots: make([]bool, m.slots())}
		if err := x.choose(m); err != nil {
			return nil, err
		}
		switch c.kind {
		case otherNetwork:
			if m.network.hull == nil && c.latency+c.perByte > 0 {
				return nil, errNoNetwork
			}
			if p.wires == nil {
				p.wires = &wires{ranks: len(m.t.World)}
			}
			if c.added {
				p.wires.latency, p.wires.perByte = p.wires.latency+c.latency, p.wires.perByte+c.perByte
			} else {
				p.wires.base = func(bytes uint64) float64 { return c.latency + c.perByte*float64(bytes) }
			}
			continue
		case overlap:
			p.overlap = join(p.overlap, x.slots)
			continue
		case anyOrder:
			p.order = join(p.order, x.slots)
			continue
		case measure:
			if len(c.loads) != len(m.locations) {
				return nil, errors.New("the costs of measuring belong to another trace")
			}
			p.loads = append(p.loads, c)
			continue
		case balance:
			for s, again := range balanced {
				if x.slots[s] = x.slots[s] && !again; x.slots[s] {
					balanced[s] = true // the same work can be shared once
				}
			}
		}
		for s := range x.slots {
			p.touched[s] = p.touched[s] || x.slots[s]
		}
		p.changes = append(p.changes, x)
	}
	p.findMeans()
	if p.wires == nil {
		return p, nil
	}
	var err error
	p.flights, p.more, err = m.network.on(p.wires)
	return p, err
}

// idle reports whether nothing changes.
func (p *plan) idle() bool {
	return p.changes == nil && p.loads == nil && p.overlap == nil && p.order == nil && slices.Equal(p.flights, p.network.flights)
}

// join returns what is in one set or the other.
func join(a, b []bool) []bool {
	if a == nil {
		return b
	}
	for i := range b {
		a[i] = a[i] || b[i]
	}
	return a
}

// choose finds the slots and ranks of a change.
func (x *planned) choose(m *Model) error {
	n := len(m.t.Tree.Nodes)
	for s := range m.slots() - 1 {
		path := trace.PathID(s)
		if s >= n {
			path = outside[s-n].path
		}
		x.slots[s] = x.kind == speed && path != profile.PathFlush && !m.inMPI(path) || x.place != nil && x.place(path)
	}
	if len(x.ranks) > 0 {
		x.on = make([]bool, len(m.t.World))
	}
	for _, r := range x.ranks {
		if int(r) >= len(x.on) {
			return trace.NoRank(int(r), len(x.on))
		}
		x.on[r] = true
	}
	return nil
}

// inMPI reports whether a call path ends in an MPI function or below one.
func (m *Model) inMPI(p trace.PathID) bool {
	for ; int(p) < len(m.t.Tree.Nodes); p = m.t.Tree.Nodes[p].Parent {
		if r := m.t.Tree.Nodes[p].Region; int(r) < len(m.mpi) && m.mpi[r].Class != trace.ClassNone {
			return true
		}
	}
	return false
}
