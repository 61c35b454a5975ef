package jsontrace

import (
	"encoding/binary"
	"math/bits"
)

// An event is one element of traceEvents. The byte slices are raw text of the window:
// strings without their quotes and still escaped, pid, tid, args and the identifiers as
// complete values. They are nil if the member is missing or null.
type event struct {
	phase   byte // 0: missing
	quoted  bool // ts is a string
	hasTime bool
	hasDur  bool
	badTime bool // ts or dur is not a finite number, or dur was clamped
	farTime bool // ts was clamped
	ts      []byte
	empty   bool // {}
	flowIn  bool
	flowOut bool
	time    int64
	dur     int64
	name    []byte
	cat     []byte
	pid     []byte
	tid     []byte
	id      []byte
	id2     []byte
	scope   []byte
	bindID  []byte
	args    []byte
}

// parse reads the object that starts at b[0] == '{' and returns the index behind it, or
// short or broken. Times are multiplied by 10^digits: of microseconds, so many decimals are kept.
func (ev *event) parse(b []byte, eof bool, digits int) int {
	*ev = event{empty: true}
	i := 1
	for {
		for i < len(b) && (isSpace(b[i]) || b[i] == ',') {
			i++
		}
		if i >= len(b) {
			return short
		}
		if b[i] == '}' {
			return i + 1
		}
		if b[i] != '"' {
			return broken
		}
		key, end := shortKey(b, i+1)
		if key == 0 {
			if end = skipString(b, i+1); end < 0 {
				return short
			}
			key = otherKey(b[i+1 : end-1])
		}
		if i = skipSpace(b, end); i >= len(b) {
			return short
		}
		if b[i] != ':' {
			return broken
		}
		i = skipSpace(b, i+1)
		if end = skipValue(b, i, eof); end < 0 {
			return end
		}
		ev.empty = false
		ev.set(key, b[i:end], digits)
		i = end
		if i < len(b) && (b[i] == ',' || b[i] == '}') {
			continue
		}
		if i = skipSpace(b, i); i < len(b) && b[i] != ',' && b[i] != '}' {
			return broken
		}
	}
}

// Keys are compared as words: the first byte is the lowest, those behind the key are 0.
const (
	keyPh      = 'p' | 'h'<<8
	keyTs      = 't' | 's'<<8
	keyID      = 'i' | 'd'<<8
	keyDur     = 'd' | 'u'<<8 | 'r'<<16
	keyCat     = 'c' | 'a'<<8 | 't'<<16
	keyPid     = 'p' | 'i'<<8 | 'd'<<16
	keyTid     = 't' | 'i'<<8 | 'd'<<16
	keyID2     = 'i' | 'd'<<8 | '2'<<16
	keyName    = 'n' | 'a'<<8 | 'm'<<16 | 'e'<<24
	keyArgs    = 'a' | 'r'<<8 | 'g'<<16 | 's'<<24
	keyScope   = 's' | 'c'<<8 | 'o'<<16 | 'p'<<24 | 'e'<<32
	keyBindID  = 'b' | 'i'<<8 | 'n'<<16 | 'd'<<24 | '_'<<32 | 'i'<<40 | 'd'<<48
	keyFlowIn  = 'f' | 'l'<<8 | 'o'<<16 | 'w'<<24 | '_'<<32 | 'i'<<40 | 'n'<<48
	keyFlowOut = 1 // the only key of the format with more than seven bytes
)

// shortKey returns the key of at most seven bytes that starts at b[i], behind its quote,
// as a word, and the index behind it; 0 if it is longer, empty or escaped.
func shortKey(b []byte, i int) (key uint64, end int) {
	if len(b)-i < 8 {
		return 0, 0
	}
	w := binary.LittleEndian.Uint64(b[i:])
	n := bits.TrailingZeros64(quotes(w)) / 8 // 8: no quote
	if n == 8 || n > 0 && b[i+n-1] == '\\' {
		return 0, 0
	}
	return w & (1<<(8*n) - 1), i + n + 1
}

// otherKey returns as a word a key that shortKey does not take, because it is longer or
// stands at the end of the window.
func otherKey(s []byte) (key uint64) {
	if string(s) == "flow_out" {
		return keyFlowOut
	}
	if len(s) > 7 {
		return 0
	}
	for i, c := range s {
		key |= uint64(c) << (8 * i)
	}
	return key
}

// set stores a member.
func (ev *event) set(key uint64, value []byte, digits int) {
	switch key {
	case keyPh:
		ev.phase = phase(value)
	case keyTs:
		ev.quoted = value[0] == '"'
		ev.ts = value
		var exact bool
		if ev.time, ev.hasTime, exact = decimal(text(value), digits); !ev.hasTime {
			ev.badTime = text(value) != nil
		} else {
			ev.farTime = !exact
		}
	case keyDur:
		ev.dur, ev.hasDur = ev.number(value, digits)
	case keyName:
		ev.name = text(value)
	case keyCat:
		ev.cat = text(value)
	case keyPid:
		ev.pid = value
	case keyTid:
		ev.tid = value
	case keyArgs:
		ev.args = value
	case keyID:
		ev.id = value
	case keyID2:
		ev.id2 = value
	case keyScope:
		ev.scope = text(value)
	case keyBindID:
		ev.bindID = value
	case keyFlowIn:
		ev.flowIn = string(value) == "true"
	case keyFlowOut:
		ev.flowOut = string(value) == "true"
	}
}

// numberedPhases are the phases that dftracer writes as numbers since version 2.1.1.
var numberedPhases = map[string]byte{"1": 'X', "2": 'C', "3": 'A', "4": 'M'}

// noPhase stands for what is longer than the letter of a phase.
const noPhase = '?'

// phase returns the letter of a phase, 0 if it is empty.
func phase(value []byte) byte {
	if value[0] != '"' {
		if p, ok := numberedPhases[string(value)]; ok {
			return p
		}
	}
	switch s := text(value); len(s) {
	case 0:
		return 0
	case 1:
		return s[0]
	}
	return noPhase
}

func (ev *event) number(value []byte, digits int) (int64, bool) {
	s := text(value)
	if s == nil {
		return 0, false
	}
	v, ok, exact := decimal(s, digits)
	if !ok || !exact {
		ev.badTime = true
	}
	return v, ok
}
