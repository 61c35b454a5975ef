package trace

import (
	"errors"
	"fmt"
	"strings"
)

// ErrNotATrace is wrapped by the error of a reader that was given something else than a
// trace of its format.
var ErrNotATrace = errors.New("not a trace that can be read")

// A SyntaxError says where in which file a trace is malformed. Readers return it from
// definitions that they cannot do without; malformed events become findings.
type SyntaxError struct {
	File   string // as the user named it, or below that
	Offset int64  // in bytes, of the record that could not be read; -1: not known
	Line   int    // from 1, in formats that are text; 0 in others
	Record string // the record's name in the format's manual, or ""
	Err    error
}

func (e *SyntaxError) Error() string {
	var b strings.Builder
	b.WriteString(e.File)
	switch {
	case e.Line > 0:
		fmt.Fprintf(&b, ":%d", e.Line)
	case e.Offset >= 0:
		fmt.Fprintf(&b, " at byte %d", e.Offset)
	}
	if e.Record != "" {
		fmt.Fprintf(&b, " (%s)", e.Record)
	}
	return b.String() + ": " + e.Err.Error()
}

func (e *SyntaxError) Unwrap() error { return e.Err }
