package main

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"tracekit/stats"
)

func formatTime(ns int64) string { return stats.FormatTime(ns) }

func formatBytes(n uint64) string { return stats.FormatBytes(n) }

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
