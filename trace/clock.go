package trace

import (
	"math"
	"math/bits"
	"sort"

	"tracekit/spill"
)

// A ClockOffset is a measurement: at local time Time the global clock was Offset ticks ahead.
type ClockOffset struct {
	Time      int64
	Offset    int64
	Deviation float64 // standard deviation of the measurement, in ticks
}

// A Knot is a point of the shift that the logical clock adds: Shift ticks at time Time
// (after the offsets), linear between knots, constant outside.
type Knot struct {
	Time  int64
	Shift int64
}

// A ClockMap makes corrected times of raw times for one location: first the measured
// offsets (if any are used), then the logical clock's knots (if any). The zero value is
// the identity.
type ClockMap struct {
	Offsets []ClockOffset
	Knots   *spill.Table[Knot]
}

// Identity reports whether the map changes nothing.
func (m *ClockMap) Identity() bool { return len(m.Offsets) < 2 && m.Knots.Len() == 0 }

// At returns the corrected time of a raw time.
func (m *ClockMap) At(t int64) int64 {
	t = CorrectOffset(m.Offsets, t)
	if m.Knots.Len() > 0 {
		c := ClockCursor{m: m}
		t += c.shift(t)
	}
	return t
}

// Correct replaces raw times, ascending or nearly so, by corrected ones that do not
// decrease. last is the corrected time before the first of them; the new last is returned.
func (m *ClockMap) Correct(times []int64, last int64) int64 {
	if m.Identity() {
		for i, t := range times {
			if t < last {
				times[i] = last
			} else {
				last = t
			}
		}
		return last
	}
	c := m.Cursor()
	for i, t := range times {
		last = max(last, c.At(t))
		times[i] = last
	}
	return last
}

// A ClockCursor applies a ClockMap to many times. It is fast if most of them ascend.
type ClockCursor struct {
	m     *ClockMap
	seg   int     // interval of the offsets that held the last time
	slope float64 // of that interval
	span  span    // of the knots that held the last time
}

// A span is the time between two knots next to each other; before the first one and behind the
// last one both are that.
type span struct {
	knots         int // before the second; 0: no span was found yet
	before, after Knot
}

// Cursor returns a cursor for the map.
func (m *ClockMap) Cursor() ClockCursor {
	c := ClockCursor{m: m}
	if len(m.Offsets) >= 2 {
		c.slope = slope(m.Offsets[0], m.Offsets[1])
	}
	return c
}

// At returns what the map's At does.
func (c *ClockCursor) At(t int64) int64 {
	if o := c.m.Offsets; len(o) >= 2 {
		if t <= o[c.seg].Time || t > o[c.seg+1].Time {
			c.seek(t)
		}
		t = along(o[c.seg], c.slope, t)
	}
	if c.m.Knots.Len() > 0 {
		t += c.shift(t)
	}
	return t
}

// seek turns to the interval of the offsets that decides about t.
func (c *ClockCursor) seek(t int64) {
	o, i := c.m.Offsets, c.seg
	for i > 0 && t <= o[i].Time {
		i--
	}
	for i < len(o)-2 && t > o[i+1].Time {
		i++
	}
	if i != c.seg {
		c.seg, c.slope = i, slope(o[i], o[i+1])
	}
}

// CorrectOffset returns the time that the measured offsets make of a local time, exactly
// as OTF2's reference library does: linear interpolation within the interval that holds
// t, extrapolation with the first and the last interval, rounding half to even; no
// correction with fewer than two measurements.
func CorrectOffset(offsets []ClockOffset, t int64) int64 {
	if len(offsets) < 2 {
		return t
	}
	i := sort.Search(len(offsets)-2, func(i int) bool { return t <= offsets[i+1].Time })
	return interpolate(offsets[i], offsets[i+1], t)
}

func interpolate(a, b ClockOffset, t int64) int64 { return along(a, slope(a, b), t) }

func slope(a, b ClockOffset) float64 { return float64(b.Offset-a.Offset) / float64(b.Time-a.Time) }

// along returns t corrected by the line through a.
func along(a ClockOffset, slope float64, t int64) int64 {
	return t + a.Offset + int64(math.RoundToEven(slope*float64(t-a.Time)))
}

// shift returns the shift of a time by the knots.
func (c *ClockCursor) shift(t int64) int64 {
	s := &c.span
	if s.knots == 0 || t < s.before.Time || t >= s.after.Time {
		s.seek(c.m.Knots, t)
	}
	switch a, b := s.before, s.after; {
	case t < a.Time:
		return a.Shift
	case t >= b.Time:
		return b.Shift
	default:
		f := float64(t-a.Time) / float64(b.Time-a.Time)
		return a.Shift + int64(math.RoundToEven(f*float64(b.Shift-a.Shift)))
	}
}

// seek turns to the knots that hold t: mostly the next.
func (s *span) seek(k *spill.Table[Knot], t int64) {
	n := s.knots
	for tries := 0; n > 0 && n < k.Len() && k.Ptr(n).Time <= t && tries < 4; tries++ {
		n++
	}
	if n == 0 || k.Ptr(n-1).Time > t || n < k.Len() && k.Ptr(n).Time <= t {
		n = sort.Search(k.Len(), func(i int) bool { return k.Ptr(i).Time > t })
	}
	s.before, s.after = k.At(max(0, n-1)), k.At(min(n, k.Len()-1))
	s.knots = max(1, n)
}

// Nanoseconds returns a time in ticks in nanoseconds, rounded towards zero, without
// floating point; the largest int64 if it is too large for one.
func (c ClockProperties) Nanoseconds(ticks int64) int64 {
	const perSecond = 1_000_000_000
	if c.Resolution == perSecond || c.Resolution == 0 {
		return ticks
	}
	magnitude, sign := uint64(ticks), int64(1)
	if ticks < 0 {
		magnitude, sign = -magnitude, -1
	}
	hi, lo := bits.Mul64(magnitude, perSecond)
	if hi >= c.Resolution {
		return sign * math.MaxInt64
	}
	ns, _ := bits.Div64(hi, lo, c.Resolution)
	return sign * int64(min(ns, math.MaxInt64))
}
