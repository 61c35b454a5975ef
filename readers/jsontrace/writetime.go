package jsontrace

import (
	"math"
	"math/bits"
	"strconv"
)

// appendTime appends ticks as microseconds from the clock's global offset.
func (w *Writer) appendTime(line []byte, ticks int64) []byte {
	c := &w.defs.Clock
	t := ticks - c.GlobalOffset
	neg := t < 0
	u := uint64(t)
	if neg {
		u = -u
	}
	if w.scale != c.Resolution && c.Resolution > 0 {
		hi, lo := bits.Mul64(u, w.scale)
		lo, carry := bits.Add64(lo, c.Resolution/2, 0)
		if hi += carry; hi >= c.Resolution || overflows(hi, lo, c.Resolution) {
			w.drop("times of more than 106 days from the clock's offset")
			hi, lo = 0, 0
		}
		u, _ = bits.Div64(hi, lo, c.Resolution)
	}
	if neg {
		line = append(line, '-')
	}
	unit := uint64(1)
	for range w.digits {
		unit *= 10
	}
	line = append(strconv.AppendUint(line, u/unit, 10), '.')
	frac := strconv.AppendUint(line, unit+u%unit, 10) // the leading 1 keeps zeros
	copy(frac[len(line):], frac[len(line)+1:])
	return frac[:len(frac)-1]
}

// overflows reports whether hi·2^64+lo divided by d is above what fits in a time.
func overflows(hi, lo, d uint64) bool {
	q, _ := bits.Div64(hi, lo, d)
	return q > math.MaxInt64
}
