package spool

import (
	"cmp"
	"math/bits"
	"slices"

	"tracekit/spill"
)

// A sorter sorts records where they lie. It keeps its memory, which is bounded by the size
// of a portion, from one time to the next.
//
//	an entry of order stands for a record: the distance of its time from the least one, and in the
//	lowest bits, as many as shift says, where it begins in records
type sorter struct {
	records        []uint64 // as they were
	order, scratch []uint64
	shift          int
}

// sort sorts the records in words [from, to), and tells where they begin then.
func (s *sorter) sort(words *spill.Table[uint64], from, to int, begin func(at int)) {
	s.records = slices.Grow(s.records[:0], to-from)[:to-from]
	words.Copy(s.records, from)
	s.arrange()
	var place []uint64
	for _, e := range s.order {
		record := s.record(e)
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

// record returns the record of an entry, and those behind it.
func (s *sorter) record(entry uint64) []uint64 { return s.records[entry&(1<<s.shift-1):] }

func (s *sorter) key(entry uint64) key { return keyOf(s.record(entry)) }

// arrange puts the entries of all records in order.
func (s *sorter) arrange() {
	s.order, s.shift = s.order[:0], bits.Len(uint(len(s.records)))
	low, high := int64(s.records[1]), int64(s.records[1])
	for at := 0; at < len(s.records); at += length(s.records[at:]) {
		s.order = append(s.order, uint64(at))
		t := int64(s.records[at+1])
		low, high = min(low, t), max(high, t)
	}
	span := bits.Len64(uint64(high) - uint64(low))
	if span+s.shift > 64 { // hours between two events
		slices.SortStableFunc(s.order, func(a, b uint64) int { return s.key(a).compare(s.key(b)) })
		return
	}
	for i, at := range s.order {
		s.order[i] |= (s.records[at+1] - uint64(low)) << s.shift
	}
	s.scratch = slices.Grow(s.scratch[:0], len(s.order))[:len(s.order)]
	s.sortByTime(span)
	s.sortTies()
}

// digitBits is the size of the digits by which times are sorted.
const digitBits = 11

// sortByTime sorts entries by time, which has so many bits, and keeps the order of those with equal times: a radix
// sort, from the lowest digit.
func (s *sorter) sortByTime(span int) {
	var count [1 << digitBits]uint32
	for shift := s.shift; shift < s.shift+span; shift += digitBits {
		clear(count[:])
		for _, e := range s.order {
			count[e>>shift&(1<<digitBits-1)]++
		}
		first := uint32(0)
		for d, n := range count {
			count[d] = first
			first += n
		}
		for _, e := range s.order {
			d := e >> shift & (1<<digitBits - 1)
			s.scratch[count[d]] = e
			count[d]++
		}
		s.order, s.scratch = s.scratch, s.order
	}
}

// sortTies puts entries with equal times in order of their ties.
func (s *sorter) sortTies() {
	tie := func(entry uint64) int64 { return int64(s.record(entry)[2]) }
	for i := 0; i < len(s.order); {
		j, tied := i+1, true
		for ; j < len(s.order) && s.order[j]>>s.shift == s.order[i]>>s.shift; j++ {
			tied = tied && tie(s.order[j-1]) <= tie(s.order[j])
		}
		if !tied {
			slices.SortStableFunc(s.order[i:j], func(a, b uint64) int { return cmp.Compare(tie(a), tie(b)) })
		}
		i = j
	}
}
