package whatif

import (
	"math"
	"sort"

	"tracekit/trace"
)

// A Bound says what changes of time can gain at most: the run cannot end earlier than what is left of its longest path. It is followed back
// through the recorded run, as tracer follows that of a replay.
type Bound struct {
	*Model
	times  []int64 // by slot, on that path, in ticks
	pieces []int64 // by slot: how many times those are the sum of; each is rounded when it changes
	loose  int64   // ticks of the path that no need explains
	known  bool
}

// Bound finds the longest path of the run.
func (m *Model) Bound() *Bound {
	b := &Bound{Model: m, times: make([]int64, m.slots()), pieces: make([]int64, m.slots())}
	l := m.lastAlone()
	b.known = l != trace.None && b.follow(l)
	return b
}

// lastAlone returns the first location with which the run ends; None: it moves with its rank's master.
func (m *Model) lastAlone() trace.LocationID {
	l, _ := m.lastEnd(func(l trace.LocationID) int64 { return m.t.Span[l].Last })
	if l != trace.None && m.master[l] != trace.None {
		return trace.None
	}
	return l
}

// Half reports whether no other place can gain as much by half of its time as one that gains so much by that, in ns: more than a quarter of
// the run, so that it has more than half of the longest path.
func (m *Model) Half(gain int64) bool {
	return !m.backward && !m.network.anyWaits() && m.lastAlone() != trace.None && 4*gain > m.ns(m.last-m.first)+16 // times are rounded to ns
}

// Scale returns the most that Scale of a place, on all ranks, gains, in ns.
func (b *Bound) Scale(place Place, factor float64) int64 {
	if !b.known || factor > 1 {
		return math.MaxInt64
	}
	x := planned{Change: Scale(place, factor), slots: make([]bool, b.slots())}
	if x.choose(b.Model) != nil {
		return math.MaxInt64
	}
	ticks := float64(b.loose)
	for s, in := range x.slots {
		if in {
			ticks += (1-factor)*float64(b.times[s]) + float64(b.pieces[s])
		}
	}
	return b.ns(int64(min(ticks, math.MaxInt64/2))) + 2 // both run times are rounded to ns
}

// follow follows the path back from the end of a location, and reports whether it leads to the begin of one.
func (b *Bound) follow(l trace.LocationID) bool {
	enter := func(l trace.LocationID, call uint32) int64 { return b.t.Calls[l].Ptr(int(call)).Enter }
	arrive := func(member uint32) (trace.LocationID, uint32, int64, bool) {
		x := b.t.Members.Ptr(int(member))
		return x.Location, x.Call, x.Begin, b.members.At(int(member))&arrives != 0
	}
	passed := make([]int, len(b.locations)) // by location: the first row that is behind the path
	for k := range passed {
		passed[k] = b.locations[k].rows.Len()
	}
	for call := b.t.Calls[l].Len(); ; {
		x := &b.locations[l]
		if k := passed[l]; k < x.rows.Len() && int(x.rows.Ptr(k).call) < call {
			return false // calls need each other
		}
		i := x.rowBefore(call, passed[l])
		for i >= 0 && x.rows.Ptr(i).wait == 0 {
			i--
		}
		if i < 0 {
			b.count(l, -1, call, 0)
			return true
		}
		passed[l] = i
		r := x.rows.At(i)
		b.count(l, int(r.call), call, i)
		end := enter(l, r.call) + r.wait
		from, before, met, _ := b.latest(x, r, x.rowAfter(i), end, b.network.flights, enter, arrive)
		if from == trace.None {
			return false
		}
		b.loose += max(0, end-met)
		l, call = from, int(before)
	}
}

// rowBefore returns the last row before a call, -1 if there is none. It is below another one, and mostly near it.
func (x *location) rowBefore(call, below int) int {
	from, far := below, 1
	for from > 0 && int(x.rows.Ptr(from-1).call) >= call {
		below = from - 1
		from = max(0, below-far)
		far *= 2
	}
	return from - 1 + sort.Search(below-from, func(i int) bool { return int(x.rows.Ptr(from+i).call) >= call })
}

// count counts the time of a location from a call on (-1: from its begin) until another one is entered. The first call's row is given.
func (b *Bound) count(l trace.LocationID, from, until, row int) {
	segments, own := b.segments[l], b.ownTimes(l, row)
	rowOf := func(call int) int { // of its own time; behind the last call, the end
		if call < segments.Len() {
			return int(segments.Calls.At(call))
		}
		return segments.Rows.Len()
	}
	call, first := max(from, 0), 0
	next, end := rowOf(call), rowOf(until)
	if from >= 0 {
		first = next
	}
	for first < end {
		rows := segments.Rows.From(first)
		rows = rows[:min(len(rows), end-first)]
		for i := range rows {
			x := segments.Of(rows[i])
			time := x.Time
			if first+i == next {
				time = own.of(uint32(call))
				call++
				next = rowOf(call)
			}
			if s := b.slot(x.Path); time > 0 {
				b.times[s], b.pieces[s] = b.times[s]+time, b.pieces[s]+1
			}
		}
		first += len(rows)
	}
}
