package main

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// formatTime returns a time in ns with the unit that people read, three digits.
func formatTime(ns int64) string {
	return formatScaled(float64(ns), []scale{{1, "ns"}, {1e3, "µs"}, {1e6, "ms"}, {1e9, "s"}, {3600e9, "h"}})
}

// formatBytes returns a number of bytes with a binary unit.
func formatBytes(n uint64) string {
	return formatScaled(float64(n), []scale{{1, "B"}, {1 << 10, "KiB"}, {1 << 20, "MiB"}, {1 << 30, "GiB"}, {1 << 40, "TiB"}})
}

type scale struct {
	factor float64
	unit   string
}

func formatScaled(v float64, scales []scale) string {
	s := scales[0]
	for _, c := range scales[1:] {
		// 999.5 of the smaller unit would print as 1000.
		if math.Abs(v) >= 0.9995*c.factor {
			s = c
		}
	}
	x := v / s.factor
	switch a := math.Abs(x); {
	case s.factor == 1:
		return fmt.Sprintf("%.0f %s", x, s.unit)
	case a >= 99.95:
		return fmt.Sprintf("%.0f %s", x, s.unit)
	case a >= 9.995:
		return fmt.Sprintf("%.1f %s", x, s.unit)
	}
	return fmt.Sprintf("%.2f %s", x, s.unit)
}

// formatCount returns an integer with thousands separated.
func formatCount[T ~int | ~int64 | ~uint64 | ~uint32](n T) string {
	s := strconv.FormatInt(int64(n), 10)
	sign := ""
	if strings.HasPrefix(s, "-") {
		sign, s = "-", s[1:]
	}
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return sign + s
}

// formatShare returns a share of 1 in per cent.
func formatShare(x float64) string {
	switch p := 100 * x; {
	case p != 0 && math.Abs(p) < 0.05:
		return "<0.1 %"
	default:
		return fmt.Sprintf("%.1f %%", p)
	}
}
