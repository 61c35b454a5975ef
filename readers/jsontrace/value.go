package jsontrace

import (
	"bytes"
	"encoding/binary"
	"math/bits"
)

// The functions of this file walk over JSON values in a window of the text. They return
// the index behind the value, or a negative status. They accept more than JSON: numbers
// are any letters, digits and signs before the next delimiter (NaN, 0x1f, ncclFloat32), strings
// may hold raw control characters and any bytes.
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
	never     // stands in strings only
)

var classes = func() (c [256]uint8) {
	for b := range c {
		c[b] = never
	}
	for _, b := range "0123456789+-._ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz" {
		c[b] = plain
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
	for i < len(b) {
		if classes[b[i]] == plain {
			i++
		} else if n := notANumber(b[i:]); n > 0 {
			i += n
		} else {
			return i
		}
	}
	if !eof {
		return short
	}
	return i
}

// notANumber returns how much of a text is what a C library of Windows writes into a word for a
// number that is none, such as -nan(ind) and 1.#INF.
func notANumber(b []byte) int {
	if b[0] == '(' || b[0] == '#' {
		for _, s := range []string{"(ind)", "(snan)", "#IND", "#INF", "#QNAN", "#SNAN"} {
			if bytes.HasPrefix(b, []byte(s)) {
				return len(s)
			}
		}
	}
	return 0
}

// skipClass returns the index behind bytes of a class, the first of which is b[i].
func skipClass(b []byte, i int, class uint8) int {
	for i++; i < len(b) && classes[b[i]] == class; i++ {
	}
	return i
}

// skipNested returns the index behind the object or array whose opening bracket is
// b[i-1]. What a missing quote makes of a text is broken: there a string or word stands beside
// another one. So is a brace that a bracket closes, as far as the innermost 64 are concerned.
func skipNested(b []byte, i int) int {
	depth, braces, known := 1, uint64(b[i-1])>>5&1, 1 // { is 0x7B, [ is 0x5B
	last := uint8(delimiter)                          // class of the byte before, that of a string its quote's
	for i < len(b) {
		class := classes[b[i]]
		switch class {
		case quote:
			if last == quote || last == plain {
				return broken
			}
			if i = skipString(b, i+1); i < 0 {
				return short
			}
			last = quote
			continue
		case plain:
			if last == quote || last == shut {
				return broken
			}
			i = skipClass(b, i, plain)
			last = plain
			continue
		case delimiter:
			i = skipClass(b, i, delimiter)
			last = delimiter
			continue
		case open:
			if last == quote || last == plain {
				return broken
			}
			depth++
			braces, known = braces<<1|uint64(b[i])>>5&1, min(known+1, 64)
		case shut:
			if known > 0 && braces&1 != uint64(b[i])>>5&1 {
				return broken
			}
			if depth--; depth == 0 {
				return i + 1
			}
			braces, known = braces>>1, known-min(known, 1)
		case never:
			n := notANumber(b[i:])
			if n == 0 || last != plain {
				return broken
			}
			i += n
			last = plain
			continue
		}
		last = class
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
