package merge

import (
	"math"

	"tracekit/trace"
)

// slope is the number of ticks over which a jump of one tick is spread backwards (1/m).
const slope = 100

// horizon is how many marks before a jump are searched for sends that its ramp would move
// too far. Behind it the ramp begins anew.
const horizon = 1024

// amortise computes the shift of the marks, from the last to the first. Where the forward
// shift jumps, a ramp that rises one tick in slope leads up to it. Where the ramp would
// move a send behind its receive, it goes straight to the send that makes it steepest and
// begins anew there.
func amortise(marks []mark) {
	i := len(marks) - 1
	marks[i].shift = marks[i].forward
	for i > 0 {
		if steep, rise := steepest(marks, i); steep < i {
			i = follow(marks, i, steep, func(t int64) int64 {
				return marks[i].shift - int64(math.Ceil(rise*float64(marks[i].time-t)))
			})
			continue
		}
		i = follow(marks, i, max(0, i-horizon), func(t int64) int64 { return ramp(marks[i], t) })
	}
}

// ramp returns the shift at time t of the ramp that ends at m.
func ramp(m mark, t int64) int64 { return m.shift - (m.time-t)/slope }

// steepest returns the mark before i that the ramp to i must not exceed and that makes it
// steepest, with that rise in ticks per tick; i if there is none.
func steepest(marks []mark, i int) (at int, rise float64) {
	at = i
	for k := i - 1; k >= max(0, i-horizon); k-- {
		v := ramp(marks[i], marks[k].time)
		if v <= marks[k].forward {
			break
		}
		if marks[k].high >= v {
			continue
		}
		if r := float64(marks[i].shift-marks[k].high) / float64(marks[i].time-marks[k].time); r > rise {
			at, rise = k, r
		}
	}
	return at, rise
}

// follow gives the marks from i down to the given one the shift of a line, or the forward
// shift at the first that has more of it. It returns the last mark that it has given one.
func follow(marks []mark, i, to int, line func(int64) int64) int {
	k := i - 1
	for ; ; k-- {
		m := &marks[k]
		m.shift = min(m.high, line(m.time))
		if m.shift <= m.forward {
			m.shift = m.forward
			return k
		}
		if k <= to {
			return k
		}
	}
}

// bend adds marks where a shift has faded away and where a ramp begins between two marks.
func bend(marks []mark, fade int64, base func(int64) int64) []mark {
	out := make([]mark, 0, len(marks)+len(marks)/8)
	for i, b := range marks {
		if i > 0 {
			out = bendBetween(out, marks[i-1], b, fade, base)
		}
		out = append(out, b)
	}
	return out
}

func bendBetween(out []mark, a, b mark, fade int64, base func(int64) int64) []mark {
	span, start := b.time-a.time, b.time
	rise := b.shift - a.shift
	if rise > 0 && rise < span/slope {
		start -= rise * slope
	}
	if excess := a.shift - base(a.time); excess > 0 && excess < (start-a.time)/fade {
		gone := a.time + excess*fade
		out = append(out, free(gone, base(gone)))
	}
	if start < b.time && start > a.time {
		out = append(out, free(start, max(base(start), a.shift-(start-a.time)/fade)))
	}
	return out
}

// free returns a mark at a time at which nothing happens that others depend on.
func free(t, shift int64) mark {
	return mark{time: t, forward: shift, shift: shift, low: math.MinInt64, high: unbounded}
}

// lookahead is how many marks makeKnots tries to pass over after the last that can end a
// segment.
const lookahead = 64

// makeKnots returns knots whose interpolation gives every mark its shift, to a tick and
// within its bounds, or exactly: as few as one pass finds. There are none if all shifts
// are 0.
func makeKnots(marks []mark, exact bool) []trace.Knot {
	knots := []trace.Knot{{Time: marks[0].time, Shift: marks[0].shift}}
	moved := marks[0].shift != 0
	for at := 0; at < len(marks)-1; {
		at = segment(marks, at, exact)
		moved = moved || marks[at].shift != 0
		knots = append(knots, trace.Knot{Time: marks[at].time, Shift: marks[at].shift})
	}
	if !moved {
		return nil
	}
	return knots
}

// segment returns the mark at which a segment that begins at the given one ends. The
// slopes with which the segment passes all marks in between within their bounds form an
// interval, which gets smaller with every mark.
func segment(marks []mark, from int, exact bool) (end int) {
	a := marks[from]
	end = from + 1
	low, high := math.Inf(-1), math.Inf(1)
	for k := from + 1; k < len(marks) && k-end <= lookahead && low <= high; k++ {
		m := marks[k]
		span := float64(m.time - a.time)
		if s := float64(m.shift-a.shift) / span; low <= s && s <= high {
			end = k
		}
		below, above := play(m, exact)
		low = max(low, (float64(m.shift-a.shift)-below)/span)
		high = min(high, (float64(m.shift-a.shift)+above)/span)
	}
	return end
}

// play returns how far below and above a mark's shift a line may pass, so that it is
// within the mark's bounds after rounding.
func play(m mark, exact bool) (below, above float64) {
	const half = 0.49 // leaves room for floating-point errors
	below, above = half, half
	if !exact && m.shift-1 >= m.low {
		below++
	}
	if !exact && m.shift < m.high {
		above++
	}
	return below, above
}
