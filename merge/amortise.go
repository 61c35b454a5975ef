package merge

import (
	"math"

	"tracekit/spill"
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
func amortise(marks *spill.Table[mark]) {
	rows, i := marks.Cursor(), marks.Len()-1
	rows.Ptr(i).shift = rows.Ptr(i).forward
	for i > 0 {
		m := *rows.Ptr(i)
		if steep, rise := steepest(&rows, i); steep < i {
			i = follow(&rows, i, steep, func(t int64) int64 {
				return m.shift - int64(math.Ceil(rise*float64(m.time-t)))
			})
			continue
		}
		i = follow(&rows, i, max(0, i-horizon), func(t int64) int64 { return ramp(&m, t) })
	}
}

// ramp returns the shift at time t of the ramp that ends at m.
func ramp(m *mark, t int64) int64 { return m.shift - (m.time-t)/slope }

// steepest returns the mark before i that the ramp to i must not exceed and that makes it
// steepest, with that rise in ticks per tick; i if there is none.
func steepest(marks *spill.Cursor[mark], i int) (at int, rise float64) {
	top := *marks.Ptr(i)
	at = i
	for k := i - 1; k >= max(0, i-horizon); k-- {
		m := marks.Ptr(k)
		v := ramp(&top, m.time)
		if v <= m.forward {
			break
		}
		if m.high >= v {
			continue
		}
		if r := float64(top.shift-m.high) / float64(top.time-m.time); r > rise {
			at, rise = k, r
		}
	}
	return at, rise
}

// follow gives the marks from i down to the given one the shift of a line, or the forward
// shift at the first that has more of it. It returns the last mark that it has given one.
func follow(marks *spill.Cursor[mark], i, to int, line func(int64) int64) int {
	k := i - 1
	for ; ; k-- {
		m := marks.Ptr(k)
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

// bend returns the marks with those added where a shift has faded away and where a ramp begins
// between two marks.
func bend(store *spill.Store, marks *spill.Table[mark], fade int64, base func(int64) int64) *spill.Table[mark] {
	out, last := spill.NewTable[mark](store), marks.At(0)
	out.Append(last)
	rows := marks.Cursor()
	for i := 1; i < marks.Len(); i++ {
		m := *rows.Ptr(i)
		bendBetween(out, last, m, fade, base)
		out.Append(m)
		last = m
	}
	return out
}

func bendBetween(out *spill.Table[mark], a, b mark, fade int64, base func(int64) int64) {
	span, start := b.time-a.time, b.time
	rise := b.shift - a.shift
	if rise > 0 && rise < span/slope {
		start -= rise * slope
	}
	if excess := a.shift - base(a.time); excess > 0 && excess < (start-a.time)/fade {
		gone := a.time + excess*fade
		out.Append(free(gone, base(gone)))
	}
	if start < b.time && start > a.time {
		out.Append(free(start, max(base(start), a.shift-(start-a.time)/fade)))
	}
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
func makeKnots(store *spill.Store, marks *spill.Table[mark], exact bool) *spill.Table[trace.Knot] {
	knots, rows, moved := spill.NewTable[trace.Knot](store), marks.Cursor(), false
	for at, last := 0, marks.Len()-1; ; at = segment(&rows, last, at, exact) {
		m := rows.Ptr(at)
		moved = moved || m.shift != 0
		knots.Append(trace.Knot{Time: m.time, Shift: m.shift})
		if at == last {
			break
		}
	}
	if !moved {
		knots.Release()
		return nil
	}
	return knots.Sealed()
}

// segment returns the mark, up to the last one, at which a segment that begins at the given one
// ends. The slopes with which the segment passes all marks in between within their bounds form an
// interval, which gets smaller with every mark.
func segment(marks *spill.Cursor[mark], last, from int, exact bool) (end int) {
	a := *marks.Ptr(from)
	end = from + 1
	low, high := math.Inf(-1), math.Inf(1)
	for k := from + 1; k <= last && k-end <= lookahead && low <= high; k++ {
		m := marks.Ptr(k)
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
func play(m *mark, exact bool) (below, above float64) {
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
