package plots

import (
	"fmt"
	"math"
	"strconv"

	"gonum.org/v1/plot"
)

// A Unit says what numbers on an axis mean, and so how they are written.
type Unit uint8

// The units of axes.
const (
	Count       Unit = iota // 1200000 is written 1.2M
	Nanoseconds             // scaled to µs, ms, s
	Bytes                   // scaled by 1024 to KiB, MiB, …
	Share                   // 0.25 is written 25 %
)

// A scale is one of the magnitudes of a unit.
type scale struct {
	div    float64
	symbol string
}

// scales returns the magnitudes of the unit, smallest first.
func (u Unit) scales() []scale {
	switch u {
	case Nanoseconds:
		return []scale{{1, "ns"}, {1e3, "µs"}, {1e6, "ms"}, {1e9, "s"}}
	case Bytes:
		return []scale{{1, "B"}, {1 << 10, "KiB"}, {1 << 20, "MiB"}, {1 << 30, "GiB"}, {1 << 40, "TiB"}}
	case Share:
		return []scale{{0.01, "%"}}
	}
	return []scale{{1, ""}, {1e3, "k"}, {1e6, "M"}, {1e9, "G"}, {1e12, "T"}}
}

// scale returns the largest magnitude that leaves size at 1 or above.
func (u Unit) scale(size float64) scale {
	all := u.scales()
	best := all[0]
	for _, s := range all {
		if math.Abs(size) >= s.div {
			best = s
		}
	}
	return best
}

// text writes one value with its unit, to three digits.
func (u Unit) text(v float64) string {
	if v == 0 {
		return "0"
	}
	s := u.scale(v * 1.0005) // 999.9 ns rounds to 1 µs
	number := strconv.FormatFloat(round(v/s.div, 3), 'g', -1, 64)
	if s.div == 1 && v == math.Trunc(v) { // small whole numbers stay exact
		number = strconv.FormatFloat(v, 'f', 0, 64)
	}
	if math.Abs(v/s.div) >= 1e5 {
		number = strconv.FormatFloat(v/s.div, 'g', 3, 64)
	}
	return number + u.behind(s)
}

// behind returns what stands behind a number.
func (u Unit) behind(s scale) string {
	if u == Count || s.symbol == "" {
		return s.symbol
	}
	return " " + s.symbol
}

// round returns v rounded to a number of significant digits.
func round(v float64, digits int) float64 {
	r, _ := strconv.ParseFloat(strconv.FormatFloat(v, 'e', digits-1, 64), 64)
	return r
}

// label joins what an axis shows with its unit: "time [µs]".
func label(what string, s scale) string {
	if s.symbol == "" {
		return what
	}
	return fmt.Sprintf("%s [%s]", what, s.symbol)
}

// niceStep returns the smallest of 1, 2, 5 times a power of ten that cuts
// span into at most n parts.
func niceStep(span float64, n int) float64 {
	rough := span / float64(max(n, 1))
	power := math.Pow(10, math.Floor(math.Log10(rough)))
	for _, m := range []float64{1, 2, 5} {
		if m*power >= rough*(1-1e-9) {
			return m * power
		}
	}
	return 10 * power
}

// linearTicks are about count labeled ticks at round numbers of a scale.
type linearTicks struct {
	scale  scale
	count  int
	suffix string // of every label
}

// Ticks places the ticks; the labels leave the scale's symbol to the axis.
func (t linearTicks) Ticks(lo, hi float64) []plot.Tick {
	lo, hi = lo/t.scale.div, hi/t.scale.div
	step := niceStep(hi-lo, t.count)
	digits := max(0, -int(math.Floor(math.Log10(step)+1e-9)))
	var out []plot.Tick
	for i := math.Ceil(lo/step - 1e-9); i*step <= hi+step*1e-9 && len(out) < 100; i++ {
		v := i * step
		text := number(v, digits) + t.suffix
		if i == 0 {
			text = "0"
		}
		out = append(out, plot.Tick{Value: v * t.scale.div, Label: text})
	}
	return out
}

// number writes v with a fixed number of decimals, large ones with an exponent.
func number(v float64, digits int) string {
	if v == 0 { // also -0
		v = 0
	}
	if math.Abs(v) >= 1e7 {
		return strconv.FormatFloat(v, 'g', 4, 64)
	}
	return strconv.FormatFloat(v, 'f', digits, 64)
}

// logTicks are ticks at powers of a base, labeled with value and unit, as
// many as fit; the steps between them stay unlabelled.
type logTicks struct {
	unit  Unit
	count int
}

// base of the powers: bytes are thought of in powers of two.
func (t logTicks) base() float64 {
	if t.unit == Bytes {
		return 8
	}
	return 10
}

// Ticks places the ticks between two positive numbers. Less than two powers
// apart, the multiples between them are labeled too. Within one power, and too short for two labels, they are those of
// a linear axis.
func (t logTicks) Ticks(lo, hi float64) []plot.Tick {
	base := t.base()
	first := int(math.Floor(logOf(lo, base) + 1e-9))
	last := int(math.Ceil(logOf(hi, base) - 1e-9))
	every := max(1, int(math.Ceil(float64(last-first+1)/float64(max(t.count, 1)))))
	var out []plot.Tick
	for e := first; e <= last; e++ {
		v := math.Pow(base, float64(e))
		if mod(e, every) == 0 {
			out = append(out, plot.Tick{Value: v, Label: t.unit.text(v)})
		} else {
			out = append(out, plot.Tick{Value: v})
		}
		out = append(out, t.between(v, logOf(hi/lo, base))...)
	}
	out = inside(out, lo, hi)
	labels := 0
	for _, tick := range out {
		if tick.Label != "" {
			labels++
		}
	}
	if labels > 1 || hi <= lo || hi >= lo*base {
		return out
	}
	s := t.unit.scale(hi)
	return linearTicks{scale: s, count: t.count, suffix: t.unit.behind(s)}.Ticks(lo, hi)
}

// between returns the minor ticks above one power, on an axis that spans so
// many powers; on short axes with room some of them are labeled.
func (t logTicks) between(v, powers float64) []plot.Tick {
	if powers > 12 {
		return nil
	}
	var out []plot.Tick
	for m := 2.0; m < t.base(); m++ {
		tick := plot.Tick{Value: m * v}
		round := m == 2 || m == 5
		if t.unit == Bytes {
			round = m == 2 || m == 4
		}
		if round && 3*powers <= float64(t.count) {
			tick.Label = t.unit.text(m * v)
		}
		out = append(out, tick)
	}
	return out
}

// inside drops the ticks that do not lie on the axis.
func inside(ticks []plot.Tick, lo, hi float64) []plot.Tick {
	kept := ticks[:0]
	for _, t := range ticks {
		if t.Value >= lo*(1-1e-9) && t.Value <= hi*(1+1e-9) {
			kept = append(kept, t)
		}
	}
	return kept
}

// logOf returns the logarithm of v to any base.
func logOf(v, base float64) float64 { return math.Log(v) / math.Log(base) }

// mod is the remainder that is never negative.
func mod[N int | int64](a, n N) N { return ((a % n) + n) % n }
