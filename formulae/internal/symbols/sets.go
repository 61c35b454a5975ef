package symbols

import "slices"

// A stridedSet is a set of numbers as a product of strides:
// start + i0·stride[0] + i1·stride[1] + …, 0 <= ik < count[k]. A column or the interior of
// a grid of ranks is one such set whatever the size of the grid.
type stridedSet struct {
	start uint64
	dims  []stride
}

type stride struct{ step, count uint64 }

// maxDims is the largest number of strides in a set.
const maxDims = 4

// stridedSets writes an ascending list of numbers as few strided sets: runs of constant stride
// first, then runs of alike sets, and so on.
func stridedSets(set []uint32) []stridedSet {
	out := make([]stridedSet, len(set))
	for i, v := range set {
		out[i] = stridedSet{start: uint64(v)}
	}
	for range maxDims {
		joined := joinSets(out)
		if len(joined) == len(out) {
			break
		}
		out = joined
	}
	return out
}

// joinSets merges runs of strided sets that differ only in their start, by a constant.
func joinSets(in []stridedSet) (out []stridedSet) {
	for i := 0; i < len(in); {
		n := 1
		for i+n < len(in) && slices.Equal(in[i+n].dims, in[i].dims) &&
			in[i+n].start-in[i+n-1].start == in[i+1].start-in[i].start {
			n++
		}
		b := in[i]
		if n > 1 {
			b.dims = append([]stride{{in[i+1].start - in[i].start, uint64(n)}}, b.dims...)
		}
		out = append(out, b)
		i += n
	}
	return out
}

// has reports whether v is in the set. Strides of a set that stridedSets made do not
// overlap: an outer one is larger than the extent of the inner ones.
func (s *stridedSet) has(v uint64) bool {
	if v < s.start {
		return false
	}
	v -= s.start
	for _, d := range s.dims {
		if d.step == 0 {
			return false
		}
		i := min(v/d.step, d.count-1)
		v -= i * d.step
	}
	return v == 0
}

func hasAny(set []stridedSet, v uint64) bool {
	for i := range set {
		if set[i].has(v) {
			return true
		}
	}
	return false
}
