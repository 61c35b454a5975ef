package main

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"tracekit/document/field"
	"tracekit/document/words"
	"tracekit/readers"
	"tracekit/trace"
)

func formatRank(r field.Rank) string {
	if r == trace.None {
		return "-"
	}
	return strconv.Itoa(int(r))
}

func formatExtreme(e field.Extreme) string {
	if e.Rank == trace.None {
		return "-"
	}
	return formatTime(e.TimeNs) + ", rank " + formatRank(e.Rank)
}

// orDash returns a share in per cent, "-" if it is not defined.
func orDash(x *float64) string {
	if x == nil {
		return "-"
	}
	return formatShare(*x)
}

func share(part, whole int64) string {
	return shareOf(float64(part), float64(whole))
}

func shareOf(part, whole float64) string {
	if whole == 0 {
		return "-"
	}
	return formatShare(part / whole)
}

// number returns a counter's value, short; "-" if there is none.
func number(x *float64) string {
	if x == nil {
		return "-"
	}
	return strconv.FormatFloat(*x, 'g', 6, 64)
}

// writtenBy names a format and the program that wrote the trace, if that is known.
func writtenBy(format, creator string) string {
	if creator == "" {
		return readers.Label(format)
	}
	return readers.Label(format) + " by " + creator
}

// plural returns a count with the word that goes with it.
func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return formatCount(n) + " " + many
}

// sortedKeys returns the keys of a map in order.
func sortedKeys[V any](m map[string]V) []string {
	keys := slices.Collect(maps.Keys(m))
	slices.Sort(keys)
	return keys
}

// nanoseconds returns a time that need not be whole.
func nanoseconds(ns float64) string { return formatTime(int64(math.Round(ns))) }

// decimal returns a factor with three digits, "-" if it is not defined.
func decimal(x *float64) string {
	if x == nil {
		return "-"
	}
	return strconv.FormatFloat(*x, 'g', 3, 64)
}

// thousandths returns a quotient with three decimals, "-" if it is not defined.
func thousandths(x *float64) string {
	if x == nil {
		return "-"
	}
	return strconv.FormatFloat(*x, 'f', 3, 64)
}

// resultText writes a number of a document by what its name says about it.
func resultText(name string, v float64) string {
	switch {
	case strings.HasSuffix(name, "_ns"):
		return nanoseconds(v)
	case strings.HasSuffix(name, "efficiency"):
		return formatShare(v)
	case strings.HasSuffix(name, "bytes"):
		return formatBytes(uint64(v))
	case strings.HasPrefix(name, "counters."):
		return strconv.FormatFloat(v, 'g', 5, 64)
	}
	return formatCount(int64(v))
}

func traceName(p string) string { return words.TraceName(p) }

func formatTime(ns int64) string { return words.Time(ns) }

func formatBytes(n uint64) string { return words.Bytes(n) }

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
