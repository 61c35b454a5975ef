package recording

import (
	"tracekit/readers/internal/sqlite"
	"tracekit/readers/internal/wire"
)

// Strings is a table of strings that others refer to by numbers. Its memory is bounded.
type Strings struct {
	dense []string // by number, while they ascend without gaps
	first int64
	rest  map[int64]string
	bytes int
}

const (
	stringBytes = 64 << 20 // of memory; strings beyond are not known
	denseLimit  = 1 << 22  // strings
)

// Add adds a string; it returns false if there are too many.
func (s *Strings) Add(id int64, text []byte) bool {
	if s.bytes += 64 + min(len(text), wire.NameLimit); s.bytes > stringBytes {
		return false
	}
	name := wire.CutName(string(text))
	if len(s.dense) == 0 {
		s.first = id
	}
	if uint64(id)-uint64(s.first) == uint64(len(s.dense)) && len(s.dense) < denseLimit {
		s.dense = append(s.dense, name)
		return true
	}
	if s.rest == nil {
		s.rest = make(map[int64]string)
	}
	s.rest[id] = name
	return true
}

// Of returns the string that a value refers to, "" if there is none.
func (s *Strings) Of(v *sqlite.Value) string {
	if !v.Is() {
		return ""
	}
	return s.At(v.Int())
}

// At returns the string of a number, "" if there is none.
func (s *Strings) At(id int64) string {
	if i := uint64(id) - uint64(s.first); i < uint64(len(s.dense)) {
		return s.dense[i]
	}
	return s.rest[id]
}
