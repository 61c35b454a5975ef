package jsontrace

import (
	"bytes"
	"encoding/binary"
	"math/bits"
)

// The functions of this file walk over JSON values in a window of the text. They return
// the index behind the value, or a negative status. They accept more than JSON: numbers
// are whatever stands before the next delimiter (NaN, 0x1f, ncclFloat32), strings may
// hold raw control characters and any bytes.
const (
	short  = -1 // the window ends within the value
	broken = -2 // this is not a value
)

// skipSpace returns the index of the first byte that is not white space.
func skipSpace(b []byte, i int) int {
	for i < len(b) && isSpace(b[i]) {
		i++
	}
	return i
}

// skipString returns the index behind the string whose opening quote is b[i-1].
func skipString(b []byte, i int) int {
	start := i
	for {
		if i = nextQuote(b, i); i < 0 {
			return short
		}
		i++
		if b[i-2] != '\\' || backslashes(b[start:i-1])%2 == 0 {
			return i
		}
	}
}

// nextQuote returns the index of the first quote in b[i:], or short. Most strings are
// shorter than a call of bytes.IndexByte pays for, so the first bytes are searched here,
// eight at a time.
func nextQuote(b []byte, i int) int {
	for range 3 {
		if len(b)-i < 8 {
			break
		}
		if found := quotes(binary.LittleEndian.Uint64(b[i:])); found != 0 {
			return i + bits.TrailingZeros64(found)/8
		}
		i += 8
	}
	if k := bytes.IndexByte(b[i:], '"'); k >= 0 {
		return i + k
	}
	return short
}

// quotes marks the quotes among the eight bytes of a word: the highest bit of the lowest
// one is set, those below it are not.
func quotes(w uint64) uint64 {
	const ones, highs = 0x0101010101010101, 0x8080808080808080
	w ^= '"' * ones // a quote is a zero byte now
	return (w - ones) &^ w & highs
}

// backslashes counts the backslashes at the end of s.
func backslashes(s []byte) int {
	n := 0
	for n < len(s) && s[len(s)-1-n] == '\\' {
		n++
	}
	return n
}

// class of a byte outside strings.
const (
	plain = iota
	quote
	open
	shut
	delimiter // ends a number or word
	never     // a control character, or none of ASCII
)

var classes = func() (c [256]uint8) {
	for b := range c {
		if b < ' ' || b > '~' {
			c[b] = never
		}
	}
	for _, b := range ", \n\r\t:" {
		c[b] = delimiter
	}
	c['"'], c['{'], c['['], c['}'], c[']'] = quote, open, open, shut, shut
	return c
}()

// skipValue returns the index behind the value that starts at b[i]; eof says that the
// text ends with b.
func skipValue(b []byte, i int, eof bool) int {
	if i >= len(b) {
		return short
	}
	switch classes[b[i]] {
	case quote:
		return skipString(b, i+1)
	case open:
		return skipNested(b, i+1)
	case plain:
		return skipWord(b, i, eof)
	}
	return broken
}

// skipWord returns the index behind the number or word that starts at b[i].
func skipWord(b []byte, i int, eof bool) int {
	for i < len(b) && classes[b[i]] == plain {
		i++
	}
	if i == len(b) && !eof {
		return short
	}
	return i
}

// skipNested returns the index behind the object or array whose opening bracket is
// b[i-1]. Braces and brackets are not distinguished.
func skipNested(b []byte, i int) int {
	depth := 1
	for i < len(b) {
		switch classes[b[i]] {
		case quote:
			if i = skipString(b, i+1); i < 0 {
				return short
			}
			continue
		case open:
			depth++
		case shut:
			if depth--; depth == 0 {
				return i + 1
			}
		case never:
			return broken
		}
		i++
	}
	return short
}

// members iterates over the members of an object: raw key (without quotes) and raw value.
// It stops where the text is not an object.
func members(object []byte, yield func(key, value []byte) bool) {
	walk(object, '{', yield)
}

// elements iterates over the raw elements of an array, with empty keys.
func elements(array []byte, yield func(value []byte) bool) {
	walk(array, '[', func(_, value []byte) bool { return yield(value) })
}

func walk(b []byte, bracket byte, yield func(key, value []byte) bool) {
	if len(b) == 0 || b[0] != bracket {
		return
	}
	for i := 1; ; {
		for i < len(b) && (isSpace(b[i]) || b[i] == ',') {
			i++
		}
		var key []byte
		if bracket == '{' {
			if i >= len(b) || b[i] != '"' {
				return
			}
			end := skipString(b, i+1)
			if end < 0 {
				return
			}
			key = b[i+1 : end-1]
			i = skipSpace(b, end)
			if i >= len(b) || b[i] != ':' {
				return
			}
			i = skipSpace(b, i+1)
		}
		end := skipValue(b, i, true)
		if end < 0 || !yield(key, b[i:end]) {
			return
		}
		i = end
	}
}

// member returns the raw value of a member of an object, nil if there is none.
func member(object []byte, key string) []byte {
	var found []byte
	members(object, func(k, v []byte) bool {
		if string(k) == key {
			found = v
		}
		return true
	})
	return found
}

// text returns what a raw string says, still escaped, and other raw values as they are;
// null is nil.
func text(value []byte) []byte {
	if len(value) >= 2 && value[0] == '"' {
		return value[1 : len(value)-1]
	}
	if string(value) == "null" {
		return nil
	}
	return value
}
