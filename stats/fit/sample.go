package fit

import (
	"math/bits"
	"slices"
)

// defaultLimit is the number of distinct durations that a [Sample] keeps apart
// when its Limit is not set: about a million, 16 bytes each.
const defaultLimit = 1 << 20

// A Sample collects the durations of one key, in ns. The zero value is empty
// and ready for use. Durations below zero, which only a broken clock can make,
// count as zero.
//
// A sample is exact while it holds at most Limit distinct durations. Beyond that it becomes a sparse histogram in cells of 2^s ns aligned
// to zero. s is the smallest exponent with at most Limit occupied cells; a stored duration is then the lower edge of its cell, wrong by at
// most [Sample.Error]; classes of a histogram hold whole cells, the first one starting at the cell of the smallest duration. Number, sum,
// smallest and largest duration stay exact. Cells of equal width suit t_err better than logarithmic ones, whose error would grow with
// t_min.
//
// The content depends on the set of durations only, not on their order or on how
// samples were combined: s for a part never exceeds s for the whole.
type Sample struct {
	// Limit is the largest number of distinct durations kept apart; 0 means
	// 2^20. It must not change once the sample is in use, and samples
	// that are combined must share it.
	Limit int

	// Class says that the sample holds the calls of a whole size class, since there are too
	// many sizes to keep them apart. It passes on to samples that it is combined with.
	Class bool

	// Invariants, after settle:
	//
	//	runs[j].t < runs[j+1].t, runs[j].n > 0
	//	runs[j].t is a multiple of 1<<shift
	//	len(runs) ≤ limit()
	runs     []run
	pending  []int64   // durations not yet in runs, unordered
	taken    []*Sample // whose durations are not yet in runs
	spare    []int64   // room to sort them
	shift    uint
	n        int64
	sum      int64
	min, max int64
}

// A run is n calls of (nearly) the same duration.
type run struct{ t, n int64 }

// Add counts one call of duration t.
func (s *Sample) Add(t int64) {
	s.pending = append(s.pending, max(t, 0))
	// Waiting until there is as much to merge as there is already makes
	// the merges cost O(log n) for each call.
	if len(s.pending) >= max(1<<12, len(s.runs)) {
		s.settle()
	}
}

// Combine adds the calls of o, which is left as it was but for its internal
// order. Combining is associative and commutative to the last bit.
func (s *Sample) Combine(o *Sample) {
	s.Class = s.Class || o.Class
	o.settle()
	s.settle()
	if o.n > 0 {
		s.count(o.n, o.sum, o.min, o.max)
		s.shift = max(s.shift, o.shift)
		s.coarsen(blend(s.runs, o.runs, func(r run) run { return r }))
	}
}

// Take is Combine with a sample that is not used any more. What that takes is done when the sample is asked for more than its number
// of calls: those of several samples on several processors.
func (s *Sample) Take(o *Sample) {
	s.Class = s.Class || o.Class
	s.taken = append(s.taken, o)
}

// settle moves what is pending, and what was taken, into the runs.
func (s *Sample) settle() {
	taken := s.taken
	s.taken = nil
	for _, o := range taken {
		s.Combine(o)
	}
	if len(s.pending) == 0 {
		return
	}
	var durations []int64
	durations, s.spare = sorted(s.pending, s.spare)
	s.pending = durations[:0]
	sum := int64(0)
	for _, t := range durations {
		sum += t
	}
	s.count(int64(len(durations)), sum, durations[0], durations[len(durations)-1])
	s.coarsen(blend(s.runs, durations, func(t int64) run { return run{t, 1} }))
}

// sorted returns durations in order, in their place or in next, and the other one of both. Where there are many it is radix
// sort, by digits of eleven bits from the lowest on, which takes a quarter of the time of one by
// comparisons.
func sorted(durations, next []int64) (in, other []int64) {
	if len(durations) < 256 {
		slices.Sort(durations)
		return durations, next
	}
	const bits, digits = 11, 1 << 11
	next = slices.Grow(next[:0], cap(durations))[:len(durations)]
	for shift, most := 0, slices.Max(durations); most>>shift > 0; shift += bits {
		var at [digits + 1]int // where those of the next digit go
		for _, t := range durations {
			at[t>>shift&(digits-1)+1]++
		}
		for digit := range digits {
			at[digit+1] += at[digit]
		}
		for _, t := range durations {
			digit := t >> shift & (digits - 1)
			next[at[digit]] = t
			at[digit]++
		}
		durations, next = next, durations
	}
	return durations, next
}

// count counts calls, but for their runs.
func (s *Sample) count(n, sum, least, most int64) {
	if s.n == 0 {
		s.min, s.max = least, most
	}
	s.n, s.sum, s.min, s.max = s.n+n, s.sum+sum, min(s.min, least), max(s.max, most)
}

// blend adds others to ordered runs, in order as well, in their place if there is room.
func blend[T any](runs []run, others []T, as func(T) run) []run {
	n, m := len(runs)-1, len(others)-1
	for runs = slices.Grow(runs, len(others))[:len(runs)+len(others)]; m >= 0; m-- {
		r := as(others[m])
		for ; n >= 0 && runs[n].t > r.t; n-- {
			runs[n+m+1] = runs[n]
		}
		runs[n+m+1] = r
	}
	return runs
}

// coarsen takes ordered runs, joins those that share a cell, in place, and makes the cells wider until they fit the limit.
func (s *Sample) coarsen(runs []run) {
	for ; ; s.shift++ {
		out := runs[:0]
		for _, r := range runs {
			if r.t = r.t >> s.shift << s.shift; len(out) > 0 && out[len(out)-1].t == r.t {
				out[len(out)-1].n += r.n
			} else {
				out = append(out, r)
			}
		}
		if s.runs, runs = out, out; len(out) <= s.limit() {
			return
		}
	}
}

func (s *Sample) limit() int {
	if s.Limit <= 0 {
		return defaultLimit
	}
	return s.Limit
}

// Len returns the number of calls.
func (s *Sample) Len() int64 {
	n := s.n + int64(len(s.pending))
	for _, o := range s.taken {
		n += o.Len()
	}
	return n
}

// Sum returns the sum of all durations in ns, exactly.
func (s *Sample) Sum() int64 {
	s.settle()
	return s.sum
}

// Min returns the smallest duration in ns, exactly; 0 if there is none.
func (s *Sample) Min() int64 {
	s.settle()
	return s.min
}

// Max returns the largest duration in ns, exactly; 0 if there is none.
func (s *Sample) Max() int64 {
	s.settle()
	return s.max
}

// Error returns the bound in ns by which stored durations may be too small:
// 0 while the sample is exact, 2^s - 1 once it has cells of 2^s ns.
func (s *Sample) Error() int64 {
	s.settle()
	return 1<<s.shift - 1
}

// Quantile returns the smallest duration t in ns such that at least a share q
// of the calls are no longer than t: the smallest call for q ≤ 0, the largest for
// q ≥ 1, and 0 for an empty sample.
func (s *Sample) Quantile(q float64) int64 {
	s.settle()
	return s.clamp(quantileOf(s.runs, s.n, q))
}

// clamp keeps a cell's lower edge within the exact extremes.
func (s *Sample) clamp(t int64) int64 { return min(max(t, s.min), s.max) }

// quantileOf returns the q-quantile of runs that hold n calls.
func quantileOf(runs []run, n int64, q float64) int64 {
	if n == 0 {
		return 0
	}
	need := rank(q, n)
	var seen int64
	for _, r := range runs {
		if seen += r.n; seen >= need {
			return r.t
		}
	}
	return runs[len(runs)-1].t
}

// Above returns how many calls took longer than t, and by how many ns in all:
// Σ max(0, d - t). In a sample that is no longer exact each call may be wrong by
// Error.
func (s *Sample) Above(t int64) (calls, excess int64) {
	s.settle()
	for j := len(s.runs) - 1; j >= 0 && s.runs[j].t > t; j-- {
		calls += s.runs[j].n
		excess += s.runs[j].n * (s.runs[j].t - t)
	}
	return calls, excess
}

// origin is the left end of class 0: the smallest duration, rounded down to the
// cells so that windows which are multiples of a cell hold whole cells.
func (s *Sample) origin() int64 { return s.min >> s.shift << s.shift }

// step returns the largest number that divides all differences of durations
// (0 if all are equal): the tick of a coarse timer shows here.
func (s *Sample) step() int64 {
	s.settle()
	var g int64
	for _, r := range s.runs {
		if g = gcd(g, r.t-s.runs[0].t); g == 1 {
			break
		}
	}
	return g
}

// gcd returns the greatest common divisor of two numbers ≥ 0.
func gcd(a, b int64) int64 {
	if a == 0 || b == 0 {
		return a + b
	}
	shift := min(bits.TrailingZeros64(uint64(a)), bits.TrailingZeros64(uint64(b)))
	for b != 0 {
		b >>= bits.TrailingZeros64(uint64(b))
		a >>= bits.TrailingZeros64(uint64(a))
		a, b = min(a, b), max(a, b)-min(a, b)
	}
	return a << shift
}
