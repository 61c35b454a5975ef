package stats

import (
	"math"
	"math/bits"

	"tracekit/document/field"
	"tracekit/trace"
)

// A rate makes nanoseconds of ticks, exactly rounded down and without floating point.
type rate struct {
	resolution uint64 // ticks per second
}

const nsPerSecond = 1_000_000_000

// ns returns the nanoseconds of a time or an instant in ticks.
func (r rate) ns(ticks int64) int64 {
	if r.resolution == nsPerSecond {
		return ticks
	}
	return r.scaled(ticks)
}

// scaled is ns for ticks that are no nanoseconds.
//
//go:noinline
func (r rate) scaled(ticks int64) int64 {
	return trace.ClockProperties{Resolution: r.resolution}.Nanoseconds(ticks)
}

// mean returns the nanoseconds of a time in ticks divided by n, to the nearest one; halves
// are rounded away from zero.
func (r rate) mean(sum int64, n uint64) int64 {
	magnitude, sign := uint64(sum), int64(1)
	if sum < 0 {
		magnitude, sign = -magnitude, -1
	}
	over, den := bits.Mul64(r.resolution, n)
	hi, lo := bits.Mul64(magnitude, nsPerSecond)
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

// ticks returns the ticks of a time in nanoseconds, which is not negative, or the largest int64 if they are too many
// for one.
func (r rate) ticks(ns int64) int64 {
	hi, lo := bits.Mul64(uint64(max(ns, 0)), r.resolution)
	if hi >= nsPerSecond {
		return math.MaxInt64
	}
	q, _ := bits.Div64(hi, lo, nsPerSecond)
	return int64(min(q, math.MaxInt64))
}

// Plus is field.Plus.
func Plus(a, b int64) int64 { return field.Plus(a, b) }

// times returns a time that is not negative n times, or the largest int64.
func times(t int64, n int) int64 {
	if n > 0 && t > math.MaxInt64/int64(n) {
		return math.MaxInt64
	}
	return t * int64(n)
}

// ratio returns a/b, nil if b is 0.
func ratio(a, b int64) *float64 { return Known(float64(a) / float64(b)) }

// Known returns a number, nil for what is none or too large for any.
func Known(f float64) *float64 {
	if !finite(f) {
		return nil
	}
	return &f
}

// A splitter converts parts of a whole so that the converted parts sum to the converted
// whole: each part is rounded together with those before it.
type splitter struct {
	rate
	sum int64 // of the parts so far, in ticks
}

func (s *splitter) ns(part int64) int64 {
	before := s.rate.ns(s.sum)
	s.sum = Plus(s.sum, part)
	return s.rate.ns(s.sum) - before
}
