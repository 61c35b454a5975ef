package jsontrace

import (
	"encoding/hex"
	"unicode/utf16"
	"unicode/utf8"

	"tracekit/readers/internal/wire"
)

// nameLimit bounds the memory of distinct names, in bytes. Names beyond it are all
// called otherName.
const nameLimit = 64 << 20

const otherName = "(other names)"

// names gives numbers to strings, in order of first use.
//
//	byRaw finds a string as the file spells it, byText as it reads
type names struct {
	byRaw  map[string]uint32
	byText map[string]uint32
	list   []string
	bytes  int
	lost   uint64 // names that became otherName
	cut    uint64 // names that were too long
}

func newNames() *names {
	return &names{byRaw: make(map[string]uint32), byText: make(map[string]uint32)}
}

// raw returns the number of a string as it stands between quotes in the file.
func (n *names) raw(s []byte) uint32 {
	if id, ok := n.byRaw[string(s)]; ok {
		return id
	}
	id := n.text(unescape(s))
	if n.bytes < nameLimit && len(s) <= wire.NameLimit {
		n.byRaw[string(s)] = id
		n.bytes += len(s)
	}
	return id
}

// text returns the number of a string.
func (n *names) text(s string) uint32 {
	s = n.short(s)
	if id, ok := n.byText[s]; ok {
		return id
	}
	if n.bytes+len(s) > nameLimit && s != otherName {
		n.lost++
		return n.text(otherName)
	}
	id := uint32(len(n.list))
	n.list = append(n.list, s)
	n.byText[s] = id
	n.bytes += len(s) + 64
	return id
}

// short returns a name that is cut if it is too long.
func (n *names) short(s string) string {
	if len(s) > wire.NameLimit {
		n.cut++
		s = wire.CutName(s)
	}
	return s
}

// unescape returns what a raw string says. Bad escapes stay as they are; what is not
// UTF-8, lone surrogates among it, becomes U+FFFD.
func unescape(s []byte) string {
	out := make([]byte, 0, len(s))
	for i := 0; i < len(s); {
		c := s[i]
		switch {
		case c == '\\' && i+1 < len(s):
			r, n := escape(s[i:])
			out = utf8.AppendRune(out, r)
			i += n
		case c < utf8.RuneSelf:
			out = append(out, c)
			i++
		default:
			r, n := utf8.DecodeRune(s[i:])
			out = utf8.AppendRune(out, r)
			i += n
		}
	}
	return string(out)
}

// escape decodes the escape at the start of s and returns its length.
func escape(s []byte) (rune, int) {
	switch s[1] {
	case '"', '\\', '/':
		return rune(s[1]), 2
	case 'b':
		return '\b', 2
	case 'f':
		return '\f', 2
	case 'n':
		return '\n', 2
	case 'r':
		return '\r', 2
	case 't':
		return '\t', 2
	case 'u':
		r, ok := hex4(s[2:])
		if !ok {
			return '\\', 1
		}
		if !utf16.IsSurrogate(r) {
			return r, 6
		}
		if len(s) >= 12 && s[6] == '\\' && s[7] == 'u' {
			if low, ok := hex4(s[8:]); ok {
				if pair := utf16.DecodeRune(r, low); pair != utf8.RuneError {
					return pair, 12
				}
			}
		}
		return utf8.RuneError, 6
	}
	return '\\', 1
}

func hex4(s []byte) (rune, bool) {
	if len(s) < 4 {
		return 0, false
	}
	var b [2]byte
	if _, err := hex.Decode(b[:], s[:4]); err != nil {
		return 0, false
	}
	return rune(b[0])<<8 | rune(b[1]), true
}

// fresh returns a number of its own for a string, whose text may be changed later.
func (n *names) fresh(s string) uint32 {
	id := uint32(len(n.list))
	n.list = append(n.list, s)
	n.bytes += len(s) + 64
	return id
}
