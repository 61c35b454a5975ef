package whatif

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"tracekit/document/field"
	"tracekit/spill"
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

// balances reports whether a location counts where ranks share their work: it is a master.
func (m *Model) balances(l trace.LocationID) bool {
	return int(m.t.Rank[l]) < len(m.t.World) && m.t.World[m.t.Rank[l]] == l
}

// findMeans finds the mean over ranks of their first, second … visits to each place that is balanced.
// It finds whether these are visits to its regions, since ranks that are there make equally many:
// several of them between two calls are taken for equally long ones.
func (p *plan) findMeans() {
	places := make([]balancing, len(p.changes))
	of, slots := make([]int, p.slots()), make([]bool, p.slots()) // a slot is balanced once
	some := false
	for i := range p.changes {
		places[i].each, places[i].least = true, math.MaxInt
		for s := range of {
			if p.changes[i].kind == balance && p.changes[i].slots[s] {
				of[s], slots[s], some = i, true, true
			}
		}
	}
	for l := range p.locations {
		if !some || !p.balances(trace.LocationID(l)) {
			continue
		}
		p.walk(trace.LocationID(l), slots, func(x passed) {
			b := &places[of[x.slot]]
			b.n, b.sum = b.n+x.visits, b.sum+x.time
		}, func(uint32, int) {
			for i := range places {
				places[i].endVisit()
			}
		})
		for i := range places {
			places[i].endLocation()
		}
	}
	for i := range p.changes {
		if p.changes[i].kind == balance {
			p.changes[i].means, p.changes[i].byVisit = places[i].means()
		}
	}
}

// A balancing finds the means of a place.
type balancing struct {
	visits, gaps meanVisits
	most, least  int // visits of a location
	each         bool

	gap, visit, n int // on the present location; n in the present visit
	sum           int64
}

// endVisit ends what a location spends there between two calls, or in one.
func (b *balancing) endVisit() {
	n, sum := b.n, b.sum
	if sum == 0 {
		return
	}
	b.gaps.add(b.gap, sum)
	b.each = b.each && n <= mostVisits
	for k := 0; b.each && k < n; k++ {
		b.visits.add(b.visit+k, sum*int64(k+1)/int64(n)-sum*int64(k)/int64(n))
	}
	b.gap, b.visit, b.n, b.sum = b.gap+1, b.visit+n, 0, 0
}

// endLocation ends a location.
func (b *balancing) endLocation() {
	if b.visit > 0 {
		b.most, b.least = max(b.most, b.visit), min(b.least, b.visit)
	}
	b.gap, b.visit, b.n, b.sum = 0, 0, 0, 0
}

// means returns the means, and whether they are of visits to the regions of the place.
func (b *balancing) means() ([]int64, bool) {
	if b.each && b.most == b.least {
		return b.visits.means(), true
	}
	return b.gaps.means(), false
}

// mostVisits is the largest number of visits between two calls that are distinguished.
const mostVisits = 16

// meanVisits finds means by ordinal.
type meanVisits struct{ sums, counts []int64 }

func (m *meanVisits) add(k int, time int64) {
	if k == len(m.sums) {
		m.sums, m.counts = append(m.sums, 0), append(m.counts, 0)
	}
	m.sums[k] += time
	m.counts[k]++
}

func (m *meanVisits) means() []int64 {
	for k, n := range m.counts {
		m.sums[k] = (m.sums[k] + n/2) / n
	}
	return m.sums
}

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
