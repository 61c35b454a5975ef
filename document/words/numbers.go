package words

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"tracekit/document/field"
	"tracekit/trace"
)

// Rank returns the number of a rank, "-" for none.
func Rank(r field.Rank) string {
	if r == trace.None {
		return "-"
	}
	return strconv.Itoa(int(r))
}

// Extreme returns a time with the rank that it is of, "-" for none.
func Extreme(e field.Extreme) string {
	if e.Rank == trace.None {
		return "-"
	}
	return Time(e.TimeNs) + ", rank " + Rank(e.Rank)
}

// ShareOrDash returns a share in per cent, "-" if it is not defined.
func ShareOrDash(x *float64) string {
	if x == nil {
		return "-"
	}
	return Share(*x)
}

// PartOf returns a part of a whole in per cent, "-" of nothing.
func PartOf(part, whole int64) string {
	return PartOfFloat(float64(part), float64(whole))
}

// PartOfFloat is PartOf of numbers that need not be whole.
func PartOfFloat(part, whole float64) string {
	if whole == 0 {
		return "-"
	}
	return Share(part / whole)
}

// Number returns a counter's value, short; "-" if there is none.
func Number(x *float64) string {
	if x == nil {
		return "-"
	}
	return strconv.FormatFloat(*x, 'g', 6, 64)
}

// Plural returns a count with the word that goes with it.
func Plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return Count(n) + " " + many
}

// Nanoseconds returns a time that need not be whole.
func Nanoseconds(ns float64) string { return Time(int64(math.Round(ns))) }

// Decimal returns a factor with three digits, "-" if it is not defined.
func Decimal(x *float64) string {
	if x == nil {
		return "-"
	}
	return strconv.FormatFloat(*x, 'g', 3, 64)
}

// Thousandths returns a quotient with three decimals, "-" if it is not defined.
func Thousandths(x *float64) string {
	if x == nil {
		return "-"
	}
	return strconv.FormatFloat(*x, 'f', 3, 64)
}

// OfResult writes a number of a document by what its name says about it.
func OfResult(name string, v float64) string {
	switch {
	case strings.HasSuffix(name, "_ns"):
		return Nanoseconds(v)
	case strings.HasSuffix(name, "efficiency"):
		return Share(v)
	case strings.HasSuffix(name, "bytes"):
		return Bytes(uint64(v))
	case strings.HasPrefix(name, "counters."), strings.HasSuffix(name, "slowdown"):
		return strconv.FormatFloat(v, 'g', 5, 64)
	}
	return Count(int64(v))
}

// Count returns an integer with thousands separated.
func Count[T ~int | ~int64 | ~uint64 | ~uint32](n T) string {
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

// Share returns a share of 1 in per cent.
func Share(x float64) string {
	switch p := 100 * x; {
	case p != 0 && math.Abs(p) < 0.05:
		return "<0.1 %"
	default:
		return fmt.Sprintf("%.1f %%", p)
	}
}
