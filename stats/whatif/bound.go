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
	for l, s := range m.t.Span {
		if s.Events > 0 && !m.aside[l] && s.Last == m.last {
			b.known = m.master[l] == trace.None && b.follow(trace.LocationID(l))
			break
		}
	}
	return b
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
	steps := 0 // a path has each row once at most
	for i := range b.locations {
		steps += b.locations[i].rows.Len()
	}
	for call := b.t.Calls[l].Len(); steps >= 0; steps-- {
		x := &b.locations[l]
		i := sort.Search(x.rows.Len(), func(i int) bool { return int(x.rows.Ptr(i).call) >= call }) - 1
		for i >= 0 && x.rows.Ptr(i).wait == 0 {
			i--
		}
		if i < 0 {
			b.count(l, -1, call)
			return true
		}
		r := x.rows.At(i)
		b.count(l, int(r.call), call)
		end := enter(l, r.call) + r.wait
		from, before, met, _ := b.latest(x, r, x.rowAfter(i), end, b.network.flights, enter)
		if from == trace.None {
			return false
		}
		b.loose += max(0, end-met)
		l, call = from, int(before)
	}
	return false
}

// count counts the time of a location from a call on (-1: from its begin) until another one is entered.
func (b *Bound) count(l trace.LocationID, from, until int) {
	segments, own := b.segments[l], ownTimes{Model: b.Model, l: l}
	add := func(path trace.PathID, time int64) {
		if s := b.slot(path); time > 0 {
			b.times[s], b.pieces[s] = b.times[s]+time, b.pieces[s]+1
		}
	}
	if from >= 0 {
		own.row = sort.Search(b.locations[l].rows.Len(), func(i int) bool { return int(b.locations[l].rows.Ptr(i).call) >= from })
	}
	for call := from; call < until; call++ {
		after, end := uint32(trace.None), uint32(trace.None)
		if call >= 0 {
			after = uint32(call)
			add(segments.Own(after).Path, own.of(after))
		}
		if call+1 < segments.Len() {
			end = uint32(call + 1)
		}
		for s := range segments.Between(after, end) {
			add(s.Path, s.Time)
		}
	}
}
