package trace

// A CallStack holds the regions that a location has entered and not left, each with what
// its user keeps for it. It is the one rule for what to make of a Leave that does not fit:
//
//   - if an outer region is left, the regions inside it end there too, never left;
//   - if the region is not on the stack, the Leave is ignored;
//   - a Leave that names no region (None) leaves the innermost one;
//   - if a region is entered inside MaxDepth others, the innermost of these ends before, never left.
//
// The zero value is an empty stack.
type CallStack[V any] struct{ open []openRegion[V] }

// MaxDepth bounds a call stack, so that regions that are never left cannot fill memory. A thread with
// 8 MiB for its stack has no room for so many calls.
const MaxDepth = 1 << 20

type openRegion[V any] struct {
	value  V
	region RegionID
}

// Len returns the depth.
func (s *CallStack[V]) Len() int { return len(s.open) }

// Full reports whether the innermost region, which was never left, ends before another is entered: the
// caller removes it with Pop.
func (s *CallStack[V]) Full() bool { return len(s.open) >= MaxDepth }

// Enter adds a region with its value.
func (s *CallStack[V]) Enter(region RegionID, value V) {
	s.open = append(s.open, openRegion[V]{value, region})
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

// LeaveInnermost removes the innermost region and returns its value if it is the one that is left,
// as in a sound trace; if ok is false, Leave tells what to do.
func (s *CallStack[V]) LeaveInnermost(region RegionID) (v V, ok bool) {
	top := len(s.open) - 1
	if top < 0 || s.open[top].region != region {
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
	n := len(s.open)
	if n > 0 && region == None {
		return 1
	}
	for i := n - 1; i >= 0; i-- {
		if s.open[i].region == region {
			return n - i
		}
	}
	return 0
}

// Pop removes the innermost region and returns its value.
func (s *CallStack[V]) Pop() V {
	n := len(s.open) - 1
	v := s.open[n].value
	s.open = s.open[:n]
	return v
}
