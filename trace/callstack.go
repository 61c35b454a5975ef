package trace

// A CallStack holds the regions that a location has entered and not left, each with what
// its user keeps for it. It is the one rule for what to make of a Leave that does not fit:
//
//   - if an outer region is left, the regions inside it end there too, never left;
//   - if the region is not on the stack, the Leave is ignored;
//   - a Leave that names no region (None) leaves the innermost one.
//
// The zero value is an empty stack.
type CallStack[V any] struct {
	frames []frame[V]
}

type frame[V any] struct {
	value  V
	region RegionID
}

// Len returns the depth.
func (s *CallStack[V]) Len() int { return len(s.frames) }

// Enter adds a region and returns its value, to be filled in. The pointer is valid until
// the next Enter.
func (s *CallStack[V]) Enter(region RegionID, value V) *V {
	s.frames = append(s.frames, frame[V]{value, region})
	return &s.frames[len(s.frames)-1].value
}

// Region returns the region at a depth; 0 is the outermost.
func (s *CallStack[V]) Region(depth int) RegionID { return s.frames[depth].region }

// At returns the value of the region at a depth. The pointer is valid until the next Enter.
func (s *CallStack[V]) At(depth int) *V { return &s.frames[depth].value }

// Top returns the value of the innermost region, nil if there is none.
func (s *CallStack[V]) Top() *V {
	if len(s.frames) == 0 {
		return nil
	}
	return &s.frames[len(s.frames)-1].value
}

// Leave returns how many of the innermost regions end when the given one is left: 1 in a
// sound trace, 0 if the Leave is to be ignored. The caller removes them with Pop; all but
// the last were never left.
func (s *CallStack[V]) Leave(region RegionID) int {
	n := len(s.frames)
	if n > 0 && region == None {
		return 1
	}
	for i := n - 1; i >= 0; i-- {
		if s.frames[i].region == region {
			return n - i
		}
	}
	return 0
}

// Pop removes the innermost region and returns its value.
func (s *CallStack[V]) Pop() V {
	n := len(s.frames) - 1
	v := s.frames[n].value
	s.frames = s.frames[:n]
	return v
}
