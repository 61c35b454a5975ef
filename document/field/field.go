package field

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"

	"tracekit/trace"
)

// A Name is a text that may be not known: "" is null in JSON.
type Name string

// MarshalJSON implements json.Marshaler.
func (n Name) MarshalJSON() ([]byte, error) {
	switch {
	case n == "":
		return []byte("null"), nil
	case strings.IndexFunc(string(n), escaped) < 0:
		return append(append([]byte{'"'}, n...), '"'), nil
	}
	return json.Marshal(string(n))
}

// escaped reports whether a character may need an escape in JSON.
func escaped(c rune) bool { return c < ' ' || c > '~' || strings.ContainsRune(`"\\<>&`, c) }

// A Line is the number of a line from 1; 0, not known, is null in JSON.
type Line uint32

// MarshalJSON implements json.Marshaler.
func (l Line) MarshalJSON() ([]byte, error) {
	if l == 0 {
		return []byte("null"), nil
	}
	return strconv.AppendUint(nil, uint64(l), 10), nil
}

// A Path is a call path: the id of its row in callpaths. trace.None, no path, is null in
// JSON.
type Path uint32

// MarshalJSON implements json.Marshaler.
func (p Path) MarshalJSON() ([]byte, error) { return Rank(p).MarshalJSON() }

// UnmarshalJSON implements json.Unmarshaler.
func (p *Path) UnmarshalJSON(data []byte) error { return (*Rank)(p).UnmarshalJSON(data) }

// A Rank is a world rank; trace.None, no rank, is null in JSON.
type Rank uint32

// MarshalJSON implements json.Marshaler.
func (r Rank) MarshalJSON() ([]byte, error) {
	if r == trace.None {
		return []byte("null"), nil
	}
	return strconv.AppendUint(nil, uint64(r), 10), nil
}

// UnmarshalJSON implements json.Unmarshaler.
func (r *Rank) UnmarshalJSON(data []byte) error {
	if bytes.Equal(data, []byte("null")) {
		*r = trace.None
		return nil
	}
	return json.Unmarshal(data, (*uint32)(r))
}
