package jsontrace

import (
	"math"
	"math/bits"
	"strconv"
)

// The digits behind the decimal point of a microsecond that are kept.
const (
	nanoDigits = 3 // nanoseconds
	picoDigits = 6 // picoseconds, for clocks that do not tick in whole nanoseconds
)

// decimal returns the number s times 10^digits, rounded half away from zero, without any
// floating point. It accepts what JSON accepts and leading plus signs and zeros. ok is
// false if s is not a number; a number beyond int64 is clamped and exact is false.
func decimal(s []byte, digits int) (v int64, ok, exact bool) {
	if v, ok := plainDecimal(s, digits); ok {
		return v, true, true
	}
	return slowDecimal(s, digits)
}

// plainDecimal is decimal for the usual form: at most 15 digits, a point, at most
// digits more.
func plainDecimal(s []byte, digits int) (int64, bool) {
	i, neg := 0, false
	if len(s) > 0 && s[0] == '-' {
		i, neg = 1, true
	}
	start := i
	var v uint64
	for i < len(s) && s[i]-'0' <= 9 {
		v = v*10 + uint64(s[i]-'0')
		i++
	}
	if n := i - start; n == 0 || n > 16 {
		return 0, false
	}
	left := digits
	if i < len(s) && s[i] == '.' {
		point := i
		for i++; i < len(s) && s[i]-'0' <= 9 && left > 0; i++ {
			v = v*10 + uint64(s[i]-'0')
			left--
		}
		if i == point+1 {
			return 0, false
		}
	}
	if i != len(s) || i-start > 18 {
		return 0, false
	}
	for ; left > 0; left-- {
		hi, lo := bits.Mul64(v, 10)
		if hi != 0 || lo > math.MaxInt64 {
			return 0, false
		}
		v = lo
	}
	if neg {
		return -int64(v), true
	}
	return int64(v), true
}

// slowDecimal is decimal for all numbers.
func slowDecimal(s []byte, digits int) (v int64, ok, exact bool) {
	neg := len(s) > 0 && s[0] == '-'
	if neg || len(s) > 0 && s[0] == '+' {
		s = s[1:]
	}
	m, rest, ok := mantissa(s)
	if !ok {
		return 0, false, false
	}
	exp, ok := exponent(rest)
	if !ok {
		return 0, false, false
	}
	u, exact := m.scaled(exp + digits)
	if u > math.MaxInt64 {
		u, exact = math.MaxInt64, false
	}
	if neg {
		return -int64(u), true, exact
	}
	return int64(u), true, exact
}

// A decimalText is 0.d1d2d3… · 10^point with digits as in a text; leading zeros are gone.
type decimalText struct {
	digits []byte // may hold one '.', which does not count
	point  int
}

// mantissa splits the digits and the point off a number.
func mantissa(s []byte) (m decimalText, rest []byte, ok bool) {
	i, seen, frac := 0, 0, false
	first := -1 // index of the first digit that is not zero
	for ; i < len(s); i++ {
		switch c := s[i]; {
		case c == '.' && !frac:
			frac = true
			continue
		case c-'0' > 9:
			return decimalText{cut(s, first, i), m.point}, s[i:], seen > 0
		case c != '0' && first < 0:
			first = i
		}
		seen++
		if first >= 0 && !frac {
			m.point++
		}
		if first < 0 && frac {
			m.point--
		}
	}
	return decimalText{cut(s, first, i), m.point}, nil, seen > 0
}

func cut(s []byte, from, to int) []byte {
	if from < 0 {
		return nil
	}
	return s[from:to]
}

// exponent reads e+12 or nothing.
func exponent(s []byte) (int, bool) {
	if len(s) == 0 {
		return 0, true
	}
	if s[0] != 'e' && s[0] != 'E' {
		return 0, false
	}
	s = s[1:]
	neg := len(s) > 0 && s[0] == '-'
	if neg || len(s) > 0 && s[0] == '+' {
		s = s[1:]
	}
	if len(s) == 0 {
		return 0, false
	}
	e := 0
	for _, c := range s {
		if c-'0' > 9 {
			return 0, false
		}
		e = min(e*10+int(c-'0'), 1<<20)
	}
	if neg {
		e = -e
	}
	return e, true
}

// scaled returns the number times 10^exp, rounded half up, clamped to MaxUint64.
func (m decimalText) scaled(exp int) (uint64, bool) {
	want := m.point + exp // digits before the point of the result
	var v uint64
	n := 0
	for _, c := range m.digits {
		if c == '.' {
			continue
		}
		if n == want {
			if c >= '5' && v < math.MaxUint64 {
				v++
			}
			return v, true
		}
		if n > want {
			return 0, true
		}
		hi, lo := bits.Mul64(v, 10)
		sum, carry := bits.Add64(lo, uint64(c-'0'), 0)
		if hi != 0 || carry != 0 {
			return math.MaxUint64, false
		}
		v, n = sum, n+1
	}
	for ; n < want && v != 0; n++ {
		hi, lo := bits.Mul64(v, 10)
		if hi != 0 {
			return math.MaxUint64, false
		}
		v = lo
	}
	return v, true
}

// integer returns the value of an integer, in decimal or with 0x in hexadecimal digits.
func integer(s []byte) (int64, bool) {
	u, neg, ok := unsigned(s)
	if !ok || u > math.MaxInt64 {
		return 0, false
	}
	if neg {
		return -int64(u), true
	}
	return int64(u), true
}

// unsigned returns the magnitude and the sign of an integer.
func unsigned(s []byte) (u uint64, neg, ok bool) {
	if len(s) > 0 && s[0] == '-' {
		s, neg = s[1:], true
	}
	base := uint64(10)
	if len(s) > 2 && s[0] == '0' && (s[1] == 'x' || s[1] == 'X') {
		s, base = s[2:], 16
	}
	if len(s) == 0 {
		return 0, neg, false
	}
	for _, c := range s {
		d := digit(c)
		hi, lo := bits.Mul64(u, base)
		sum, carry := bits.Add64(lo, d, 0)
		if d >= base || hi != 0 || carry != 0 {
			return 0, neg, false
		}
		u = sum
	}
	return u, neg, true
}

func digit(c byte) uint64 {
	switch {
	case c-'0' <= 9:
		return uint64(c - '0')
	case c|0x20 >= 'a' && c|0x20 <= 'f':
		return uint64(c|0x20-'a') + 10
	}
	return 255
}

func appendUint(b []byte, u uint64) []byte { return strconv.AppendUint(b, u, 10) }
