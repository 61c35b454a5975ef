package plots

import (
	"math"
	"strconv"
	"strings"
)

// A timeAxis places ticks on a range of integer nanoseconds. When the range
// is far from zero, labels count from a base that the axis names, since a
// label like 5000000.012 µs tells nothing.
type timeAxis struct {
	ticks []int64
	base  int64 // subtracted from every label
	scale scale
	step  int64
}

// newTimeAxis lays about count ticks on [from, to); from < to.
func newTimeAxis(from, to int64, count int) timeAxis {
	span := uint64(to) - uint64(from)
	a := timeAxis{step: integerStep(span, count)}
	first := from - mod(from, a.step)
	for t := first; t <= to && len(a.ticks) < 1000; t += a.step {
		if t >= from {
			a.ticks = append(a.ticks, t)
		}
		if t > math.MaxInt64-a.step {
			break
		}
	}
	if far := max(math.Abs(float64(from)), math.Abs(float64(to))); far/float64(a.step) >= 1e5 {
		a.base = first
	}
	// Scale by the largest label, but keep a step visible in three decimals.
	a.scale = Nanoseconds.scale(max(math.Abs(float64(from-a.base)), math.Abs(float64(to-a.base))))
	return a
}

// label writes the tick at t, without the unit.
func (a timeAxis) label(t int64) string {
	digits := max(0, int(math.Ceil(-math.Log10(float64(a.step)/a.scale.div)-1e-9)))
	return number(float64(t-a.base)/a.scale.div, digits)
}

// title names the axis: "time [µs]", "time after 5.00002 s [ns]".
func (a timeAxis) title() string {
	if a.base == 0 {
		return label("time", a.scale)
	}
	return label("time after "+exactTime(a.base), a.scale)
}

// exactTime writes a time without loss.
func exactTime(ns int64) string {
	s := Nanoseconds.scale(float64(ns))
	whole, part := ns/int64(s.div), ns%int64(s.div)
	text := strconv.FormatInt(whole, 10)
	if whole == 0 && ns < 0 {
		text = "-0"
	}
	if part != 0 {
		digits := len(strconv.FormatInt(int64(s.div), 10)) - 1
		d := strconv.FormatInt(max(part, -part), 10)
		text += "." + strings.TrimRight(strings.Repeat("0", digits-len(d))+d, "0")
	}
	return text + " " + s.symbol
}

// integerStep is niceStep in whole nanoseconds.
func integerStep(span uint64, n int) int64 {
	step := int64(1)
	for {
		for _, m := range []int64{1, 2, 5} {
			if uint64(m*step)*uint64(max(n, 1)) >= span {
				return m * step
			}
		}
		if step > math.MaxInt64/50/int64(max(n, 1)) {
			return step
		}
		step *= 10
	}
}
