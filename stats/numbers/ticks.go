package numbers

import (
	"math"
	"math/bits"

	"tracekit/trace"
)

// A Rate makes nanoseconds of ticks, exactly rounded down and without floating point.
type Rate struct {
	Resolution uint64 // ticks per second
}

// NsPerSecond is the number of nanoseconds in a second.
const NsPerSecond = 1_000_000_000

// Ns returns the nanoseconds of a time or an instant in ticks.
func (r Rate) Ns(ticks int64) int64 {
	if r.Resolution == NsPerSecond {
		return ticks
	}
	return r.scaled(ticks)
}

// scaled is ns for ticks that are no nanoseconds.
//
//go:noinline
func (r Rate) scaled(ticks int64) int64 {
	return trace.ClockProperties{Resolution: r.Resolution}.Nanoseconds(ticks)
}

// Mean returns the nanoseconds of a time in ticks divided by n, to the nearest one; halves
// are rounded away from zero.
func (r Rate) Mean(sum int64, n uint64) int64 {
	magnitude, sign := uint64(sum), int64(1)
	if sum < 0 {
		magnitude, sign = -magnitude, -1
	}
	over, den := bits.Mul64(r.Resolution, n)
	hi, lo := bits.Mul64(magnitude, NsPerSecond)
	switch {
	case over > 0 || den == 0: // of so many there is no sum
		return 0
	case hi >= den:
		return sign * math.MaxInt64
	}
	q, rest := bits.Div64(hi, lo, den)
	if rest >= den-rest {
		q++
	}
	return sign * int64(min(q, math.MaxInt64))
}

// Ticks returns the ticks of a time in nanoseconds, which is not negative, or the largest int64 if they are too many
// for one.
func (r Rate) Ticks(ns int64) int64 {
	hi, lo := bits.Mul64(uint64(max(ns, 0)), r.Resolution)
	if hi >= NsPerSecond {
		return math.MaxInt64
	}
	q, _ := bits.Div64(hi, lo, NsPerSecond)
	return int64(min(q, math.MaxInt64))
}

// Plus returns the sum of two times that are not negative, or the largest int64 if that is too
// large for one: what is added up over very long locations is told as too much to be told, and
// not as less than nothing.
func Plus(a, b int64) int64 {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}

// Times returns a time that is not negative n times, or the largest int64.
func Times(t int64, n int) int64 {
	if n > 0 && t > math.MaxInt64/int64(n) {
		return math.MaxInt64
	}
	return t * int64(n)
}

// Ratio returns a/b, nil if b is 0.
func Ratio(a, b int64) *float64 { return Known(float64(a) / float64(b)) }

// Known returns a number, nil for what is none or too large for any.
func Known(f float64) *float64 {
	if !Finite(f) {
		return nil
	}
	return &f
}

// A Splitter converts parts of a whole so that the converted parts sum to the converted
// whole: each part is rounded together with those before it.
type Splitter struct {
	Rate
	sum int64 // of the parts so far, in ticks
}

// Ns returns the nanoseconds of the next part.
func (s *Splitter) Ns(part int64) int64 {
	before := s.Rate.Ns(s.sum)
	s.sum = Plus(s.sum, part)
	return s.Rate.Ns(s.sum) - before
}

// Finite reports whether f is a number, and not infinite.
func Finite(f float64) bool { return !math.IsNaN(f) && !math.IsInf(f, 0) }

// Never is later than every event.
const Never = math.MaxInt64
