package trace

import "slices"

// A CallStack holds the regions that a location has entered and not left, each with what
// its user keeps for it. It is the one rule for what to make of a Leave that does not fit:
//
//   - if an outer region is left, the regions inside it end there too, never left;
//   - if the region is not on the stack, the Leave is ignored;
//   - a Leave that names no region (None) leaves the innermost one;
//   - if a region is entered inside MaxDepth others, the innermost of these ends before, never left.
//
// The zero value is an empty stack.
type CallStack[V any] struct {
	open    []openRegion[V]
	counted int              // depth down to which regions are counted; 0: none are
	deep    map[RegionID]int // how often each region is in open[searched:counted]
}

// MaxDepth bounds a call stack, so that regions that are never left cannot fill memory. A thread with
// 8 MiB for its stack has no room for so many calls: each would have 64 bytes.
const MaxDepth = 1 << 17

// searched is the depth up to which a region that is not the innermost is looked for one by one. Where a
// stack is deeper, its regions are counted then, so that it takes no longer if the region is none of them.
const searched = 1 << 10

type openRegion[V any] struct {
	value  V
	region RegionID
}

// Len returns the depth.
func (s *CallStack[V]) Len() int { return len(s.open) }

// Full reports whether the innermost region, which was never left, ends before another is entered. Enter
// removes it; a caller to whom that matters removes it before, with Pop.
func (s *CallStack[V]) Full() bool { return len(s.open) >= MaxDepth }

// Enter adds a region with its value.
func (s *CallStack[V]) Enter(region RegionID, value V) {
	s.open = append(s.open[:min(len(s.open), MaxDepth-1)], openRegion[V]{value, region})
}

// Push adds a region with the zero value, and returns it. The pointer is valid until the next Enter or Push.
func (s *CallStack[V]) Push(region RegionID) *V {
	n := min(len(s.open), MaxDepth-1)
	if n == cap(s.open) {
		s.open = slices.Grow(s.open, 1)
	}
	s.open = s.open[:n+1]
	s.open[n] = openRegion[V]{region: region}
	return &s.open[n].value
}

// Drop removes the innermost region.
func (s *CallStack[V]) Drop() {
	n := len(s.open) - 1
	if n < s.counted {
		s.discount(s.open[n].region)
	}
	s.open = s.open[:n]
}

// Region returns the region at a depth; 0 is the outermost.
func (s *CallStack[V]) Region(depth int) RegionID { return s.open[depth].region }

// At returns the value of the region at a depth. The pointer is valid until the next Enter.
func (s *CallStack[V]) At(depth int) *V { return &s.open[depth].value }

// Top returns the value of the innermost region, nil if there is none. The pointer is valid until
// the next Enter.
func (s *CallStack[V]) Top() *V {
	if len(s.open) == 0 {
		return nil
	}
	return &s.open[len(s.open)-1].value
}

// LeaveInnermost removes the innermost region and returns its value, if it is the one that is left and not deep in. So it is in nearly all
// traces; if ok is false, Leave tells what to do.
func (s *CallStack[V]) LeaveInnermost(region RegionID) (v V, ok bool) {
	top := len(s.open) - 1
	if uint(top) >= searched || s.open[top].region != region {
		return v, false
	}
	v = s.open[top].value
	s.open = s.open[:top]
	return v, true
}

// Leave returns how many of the innermost regions end when the given one is left: 1 in a
// sound trace, 0 if the Leave is to be ignored. The caller removes them with Pop; all but
// the last were never left.
func (s *CallStack[V]) Leave(region RegionID) int {
	if n := len(s.open); n > 0 && (region == None || s.open[n-1].region == region) {
		return 1
	}
	return s.search(region)
}

// search is Leave of a region that is not the innermost. That is not counted: Enter may replace it.
func (s *CallStack[V]) search(region RegionID) int {
	n := len(s.open)
	i := n - 2
	if i > searched {
		if s.counted == 0 {
			s.counted, s.deep = searched, make(map[RegionID]int)
		}
		for ; s.counted <= i; s.counted++ {
			s.deep[s.open[s.counted].region]++
		}
		if s.deep[region] == 0 {
			i = searched - 1
		}
	}
	for ; i >= 0; i-- {
		if s.open[i].region == region {
			return n - i
		}
	}
	return 0
}

// Pop removes the innermost region and returns its value.
func (s *CallStack[V]) Pop() V {
	v := s.open[len(s.open)-1].value
	s.Drop()
	return v
}

// discount takes a region that is removed, the innermost of those that are counted, out of the count.
func (s *CallStack[V]) discount(region RegionID) {
	if s.deep[region]--; s.deep[region] == 0 {
		delete(s.deep, region)
	}
	if s.counted--; s.counted == searched {
		s.counted = 0
	}
}
