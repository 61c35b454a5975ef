package rocpd

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"tracekit/readers/internal/wire"
)

const (
	windowBytes  = 256 << 10 // of a window at first
	portionBytes = 16 << 20  // bounds one value, which is in memory as a whole
	depthLimit   = 10_000    // brackets within each other
)

var (
	errPortion = fmt.Errorf("a value is longer than %d MiB", portionBytes>>20)
	errSyntax  = errors.New("it is no JSON here")
)

// A stream is a window on a text of JSON, which is taken value by value.
//
//	buf[pos:] is what was read and not taken
//	base is the position in the text of buf[0]
type stream struct {
	r    io.Reader
	buf  []byte
	pos  int
	base int64
	eof  bool
	err  error  // why the text ended, if not at its end
	open []byte // brackets that skip waits for
}

func newStream(r io.Reader) *stream { return &stream{r: r, buf: make([]byte, 0, windowBytes)} }

// at returns the position of what is next.
func (s *stream) at() int64 { return s.base + int64(s.pos) }

// more reads further bytes behind what was not taken.
func (s *stream) more() error {
	switch {
	case s.eof && s.err != nil:
		return s.err
	case s.eof:
		return io.ErrUnexpectedEOF
	case len(s.buf)-s.pos > portionBytes:
		return errPortion
	}
	if s.pos == 0 && len(s.buf) == cap(s.buf) {
		s.buf = append(make([]byte, 0, 2*cap(s.buf)), s.buf...)
	}
	s.base += int64(s.pos)
	s.buf, _, s.eof, s.err = wire.Refill(s.r, s.buf, s.pos)
	s.pos = 0
	return nil
}

// peek returns the next byte that is no white space.
func (s *stream) peek() (byte, error) {
	for {
		for ; s.pos < len(s.buf); s.pos++ {
			if c := s.buf[s.pos]; c != ' ' && c != '\n' && c != '\t' && c != '\r' {
				return c, nil
			}
		}
		if err := s.more(); err != nil {
			return 0, err
		}
	}
}

// take takes a byte if it is next.
func (s *stream) take(c byte) (bool, error) {
	next, err := s.peek()
	if err != nil || next != c {
		return false, err
	}
	s.pos++
	return true, nil
}

// value takes the next value, which is valid until the next one is taken. What is in it may be no JSON.
func (s *stream) value() ([]byte, error) {
	if _, err := s.peek(); err != nil {
		return nil, err
	}
	for {
		if n := valueEnd(s.buf[s.pos:], s.eof); n >= 0 {
			v := s.buf[s.pos : s.pos+n]
			s.pos += n
			switch {
			case n == 0:
				return nil, errSyntax
			case n > portionBytes:
				return nil, errPortion
			}
			return v, nil
		}
		if err := s.more(); err != nil {
			return nil, err
		}
	}
}

// valueEnd returns where a value ends, with which a text begins; -1 if that is not to be seen.
func valueEnd(b []byte, eof bool) int {
	depth := 0
	for i := 0; i < len(b); i++ {
		switch b[i] {
		case '"':
			if i = closing(b, i+1); i < 0 {
				return -1
			}
			if depth == 0 {
				return i + 1
			}
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth <= 0 {
				return i + 1 + depth
			}
		case ',', ':', ' ', '\n', '\t', '\r':
			if depth == 0 {
				return i
			}
		}
	}
	if eof && depth == 0 {
		return len(b)
	}
	return -1
}

// closing returns where the quote is that ends a string, of which the part from i on is not looked at yet; -1 if it is not there.
func closing(b []byte, i int) int {
	for {
		k := bytes.IndexByte(b[i:], '"')
		if k < 0 {
			return -1
		}
		i += k
		escapes := 0
		for escapes < i && b[i-1-escapes] == '\\' {
			escapes++
		}
		if escapes%2 == 0 {
			return i
		}
		i++
	}
}

// plain are the bytes that JSON has between brackets and strings, and those of the words that some tools write for numbers.
var plain = func() (is [256]bool) {
	for _, c := range []byte(" \n\t\r,:+-.0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ") {
		is[c] = true
	}
	return is
}()

// skip goes over the next value, however long it is. What is in it may be no JSON, but its brackets fit together, and between them
// and strings are bytes that JSON may have there.
func (s *stream) skip() error {
	c, err := s.peek()
	if err != nil {
		return err
	}
	if c != '{' && c != '[' {
		v, err := s.value()
		if err == nil && c != '"' && slices.ContainsFunc(v, func(c byte) bool { return !plain[c] }) {
			err = errSyntax
		}
		return err
	}
	for open := s.open[:0]; ; s.open = open {
		b := s.buf[s.pos:]
		i := 0
	window:
		for i < len(b) {
			switch b[i] {
			case '"':
				end := closing(b, i+1)
				if end < 0 {
					break window
				}
				i = end
			case '{', '[':
				if open = append(open, b[i]+2); len(open) > depthLimit { // the bracket that closes it
					return errSyntax
				}
			case '}', ']':
				last := len(open) - 1
				if b[i] != open[last] {
					s.pos += i
					return errSyntax
				}
				open = open[:last]
			default:
				if !plain[b[i]] {
					s.pos += i
					return errSyntax
				}
			}
			if i++; len(open) == 0 {
				s.pos += i
				return nil
			}
		}
		s.pos += i
		if err := s.more(); err != nil {
			return err
		}
	}
}

// members calls member for each member of an object, behind whose key the stream stands. What is no object is gone over.
func (s *stream) members(member func(key string) error) error {
	return s.parts('{', '}', func() error {
		v, err := s.value()
		if err != nil {
			return err
		}
		var key string
		if v[0] != '"' || json.Unmarshal(v, &key) != nil {
			return errSyntax
		}
		if colon, err := s.take(':'); err != nil || !colon {
			return unless(err)
		}
		return member(key)
	})
}

// elements calls element for each element of an array. What is no array is gone over.
func (s *stream) elements(element func() error) error { return s.parts('[', ']', element) }

// parts calls part for each part of what stands between brackets.
func (s *stream) parts(open, end byte, part func() error) error {
	if is, err := s.take(open); err != nil || !is {
		if err == nil {
			err = s.skip()
		}
		return err
	}
	if empty, err := s.take(end); err != nil || empty {
		return err
	}
	for {
		if err := part(); err != nil {
			return err
		}
		if last, err := s.take(end); err != nil || last {
			return err
		}
		if comma, err := s.take(','); err != nil || !comma {
			return unless(err)
		}
	}
}

// unless returns an error, or, if there is none, that the text is no JSON.
func unless(err error) error {
	if err != nil {
		return err
	}
	return errSyntax
}
