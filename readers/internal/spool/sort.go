package spool

import (
	"cmp"
	"math/bits"
	"slices"
)

// An entry stands for a record while it is sorted.
type entry struct {
	key
	page, at uint32
}

// arrange returns the entries of all records in the pages, sorted.
func (s *Stream) arrange() []entry {
	order := s.spool.order[:0]
	for i, p := range s.pages {
		for at := 0; at < len(p); at += length(p[at:]) {
			order = append(order, entry{keyOf(p[at:]), uint32(i), uint32(at)})
		}
	}
	scratch := slices.Grow(s.spool.scratch[:0], len(order))[:len(order)]
	order, scratch = sortByTime(order, scratch)
	sortTies(order)
	s.spool.order, s.spool.scratch = order, scratch
	return order
}

// digitBits is the size of the digits by which times are sorted.
const digitBits = 11

// sortByTime sorts entries by time and keeps the order of those with equal times: a radix
// sort, from the lowest digit of the distance from the least time, as many digits as the
// greatest distance has. The result is one of the two slices, the other is returned too.
func sortByTime(order, scratch []entry) (sorted, other []entry) {
	low, high := order[0].time, order[0].time
	for i := range order {
		low, high = min(low, order[i].time), max(high, order[i].time)
	}
	var count [1 << digitBits]uint32
	for shift := 0; shift < bits.Len64(uint64(high)-uint64(low)); shift += digitBits {
		digit := func(e *entry) uint64 { return (uint64(e.time) - uint64(low)) >> shift & (1<<digitBits - 1) }
		clear(count[:])
		for i := range order {
			count[digit(&order[i])]++
		}
		first := uint32(0)
		for d, n := range count {
			count[d] = first
			first += n
		}
		for i := range order {
			d := digit(&order[i])
			scratch[count[d]] = order[i]
			count[d]++
		}
		order, scratch = scratch, order
	}
	return order, scratch
}

// sortTies puts entries with equal times in order of their ties.
func sortTies(order []entry) {
	for i := 0; i < len(order); {
		j, tied := i+1, true
		for ; j < len(order) && order[j].time == order[i].time; j++ {
			tied = tied && order[j-1].tie <= order[j].tie
		}
		if !tied {
			slices.SortStableFunc(order[i:j], func(a, b entry) int { return cmp.Compare(a.tie, b.tie) })
		}
		i = j
	}
}
