package spool

import (
	"cmp"
	"math/bits"
	"slices"

	"tracekit/spill"
)

// A sorter sorts records where they lie. It keeps its memory, which is bounded by the size
// of a portion, from one time to the next.
type sorter struct {
	records        []uint64 // as they were
	order, scratch []entry
}

// An entry stands for a record while it is sorted.
type entry struct {
	key
	at uint32
}

// sort sorts the records in words [from, to), and tells where they begin then.
func (s *sorter) sort(words *spill.Table[uint64], from, to int, begin func(at int)) {
	s.records = slices.Grow(s.records[:0], to-from)[:to-from]
	words.Copy(s.records, from)
	s.order = s.order[:0]
	for at := 0; at < len(s.records); at += length(s.records[at:]) {
		s.order = append(s.order, entry{keyOf(s.records[at:]), uint32(at)})
	}
	s.scratch = slices.Grow(s.scratch[:0], len(s.order))[:len(s.order)]
	s.order, s.scratch = sortByTime(s.order, s.scratch)
	sortTies(s.order)
	var place []uint64
	for _, e := range s.order {
		record := s.records[e.at:]
		record = record[:length(record)]
		begin(from)
		for len(record) > 0 {
			if len(place) == 0 {
				place = words.From(from)
			}
			n := copy(place, record)
			place, record, from = place[n:], record[n:], from+n
		}
	}
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
