package formulae

import (
	"slices"
)

// A box is a set of numbers as a product of strides:
// start + i0·stride[0] + i1·stride[1] + …, 0 <= ik < count[k]. A column or the interior of
// a grid of ranks is one box whatever the size of the grid.
type box struct {
	start uint64
	dims  []stride
}

type stride struct{ step, count uint64 }

// maxDims is the largest number of strides in a box.
const maxDims = 4

// boxes writes an ascending list of numbers as few boxes: runs of constant stride first,
// then runs of alike boxes, and so on.
func boxes(set []uint32) []box {
	out := make([]box, len(set))
	for i, v := range set {
		out[i] = box{start: uint64(v)}
	}
	for range maxDims {
		joined := joinBoxes(out)
		if len(joined) == len(out) {
			break
		}
		out = joined
	}
	return out
}

// joinBoxes merges runs of boxes that differ only in their start, by a constant.
func joinBoxes(in []box) (out []box) {
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

// has reports whether v is in the box. Strides of a box that boxes made do not overlap:
// an outer one is larger than the extent of the inner ones.
func (b *box) has(v uint64) bool {
	if v < b.start {
		return false
	}
	v -= b.start
	for _, d := range b.dims {
		if d.step == 0 {
			return false
		}
		i := min(v/d.step, d.count-1)
		v -= i * d.step
	}
	return v == 0
}

func hasAny(set []box, v uint64) bool {
	for i := range set {
		if set[i].has(v) {
			return true
		}
	}
	return false
}
