package paraver

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
)

// A scanner reads the numbers of a line. It works on bytes that end with a line end, so
// that it need not look for the end of the data: every loop ends at a byte that is no digit.
// Most of the time of reading a trace is spent here.
type scanner struct {
	data []byte
	pos  int
}

// Why a line is left out.
var (
	errNumber = errors.New("a field is not a number")
	errFields = errors.New("the line has too few or too many fields")
	errObject = errors.New("the thread does not exist")
	errTime   = errors.New("a time is negative or too large")
	errOrder  = errors.New("a state ends before it begins")
)

// number reads a decimal number with an optional sign. Numbers from 2⁶³ to 2⁶⁴−1 are the
// negative ones with the same bits. ok is false if there is none, or it is larger.
func (s *scanner) number() (v int64, ok bool) {
	u, i := digits(s.data, s.pos, 0)
	if n := i - s.pos; n > 18 || n == 0 {
		return s.unusual()
	}
	s.pos = i
	return int64(u), true
}

// long reads what number reads; it is faster for numbers of eight digits and more.
func (s *scanner) long() (v int64, ok bool) {
	d, i := s.data, s.pos
	u := uint64(0)
	if i+8 <= len(d) {
		if w := binary.LittleEndian.Uint64(d[i:]); eightDigits(w) {
			u, i = parseEight(w), i+8
		}
	}
	u, i = digits(d, i, u)
	if n := i - s.pos; n > 18 || n == 0 {
		return s.unusual()
	}
	s.pos = i
	return int64(u), true
}

// digits continues the number u with the digits from d[i] on, and returns where they end.
func digits(d []byte, i int, u uint64) (uint64, int) {
	for {
		c := d[i] - '0'
		if c > 9 {
			return u, i
		}
		u = u*10 + uint64(c)
		i++
	}
}

// eightDigits reports whether all bytes of a word are digits: high halves 3, and low
// halves that do not carry when 6 is added.
func eightDigits(w uint64) bool {
	const high = 0xF0F0F0F0F0F0F0F0
	return w&high|(w+0x0606060606060606)&high>>4 == 0x3333333333333333
}

// parseEight returns the number of eight digits, the first of them in the lowest byte:
// pairs of digits are joined to numbers below 100, these to numbers below 10000, and
// these to the result.
func parseEight(w uint64) uint64 {
	w -= 0x3030303030303030
	w = w*10 + w>>8
	const pairs = 0x000000FF000000FF
	return (w&pairs*(100+1000000<<32) + w>>16&pairs*(1+10000<<32)) >> 32
}

// unusual reads a number with a sign or with many digits.
func (s *scanner) unusual() (int64, bool) {
	negative := s.data[s.pos] == '-'
	if negative {
		s.pos++
	}
	first := s.pos
	_, s.pos = digits(s.data, first, 0)
	return large(s.data[first:s.pos], negative)
}

// large reads the digits of a number that may not fit.
func large(digits []byte, negative bool) (int64, bool) {
	u := uint64(0)
	for _, c := range digits {
		v := uint64(c - '0')
		if u > (math.MaxUint64-v)/10 {
			return 0, false
		}
		u = u*10 + v
	}
	if negative {
		return -int64(u), len(digits) > 0 && u <= 1<<63
	}
	return int64(u), len(digits) > 0
}

// colon passes over a colon.
func (s *scanner) colon() bool {
	if s.data[s.pos] != ':' {
		return false
	}
	s.pos++
	return true
}

// prefixFields is the number of fields at the begin of records that name a thread.
const prefixFields = 4

// numbers reads the fields of a record, separated by colons, into v; all must be there.
func (s *scanner) numbers(v []int64) error {
	for i := range v {
		if i > 0 && !s.colon() {
			return s.missing()
		}
		var n int64
		var ok bool
		if i < prefixFields {
			n, ok = s.number()
		} else {
			n, ok = s.long()
		}
		if !ok {
			return errNumber
		}
		v[i] = n
	}
	return nil
}

// missing tells a line that ends from one that holds something else than numbers.
func (s *scanner) missing() error {
	if s.atEnd() {
		return errFields
	}
	return errNumber
}

// atEnd reports whether the line ends here.
func (s *scanner) atEnd() bool {
	c := s.data[s.pos]
	return c == '\n' || c == '\r' && s.data[s.pos+1] == '\n'
}

// nextLine goes to the beginning of the next line.
func (s *scanner) nextLine() {
	if s.data[s.pos] == '\n' {
		s.pos++
		return
	}
	s.pos += bytes.IndexByte(s.data[s.pos:], '\n') + 1
}
