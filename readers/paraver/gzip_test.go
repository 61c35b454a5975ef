package paraver

import (
	"bytes"
	"slices"
	"testing"

	"tracekit/trace"
	"tracekit/trace/tracetest"
)

// TestGzipMembers: members that follow each other are one text; what is no member, and one
// that is cut, is a finding.
func TestGzipMembers(t *testing.T) {
	text := ring(20 << 10)
	half := bytes.IndexByte(text[len(text)/2:], '\n') + len(text)/2 + 1
	many := slices.Concat(tracetest.Gzip(text[:half]), bytes.Repeat(tracetest.Gzip(nil), 1000), tracetest.Gzip(text[half:]))
	for name, c := range map[string]struct {
		data  []byte
		sound bool
	}{
		"many":      {many, true},
		"garbage":   {append(bytes.Clone(many), "garbage"...), false},
		"cut":       {many[:len(many)-9], false},
		"long line": {tracetest.Gzip(append(bytes.Clone(text), make([]byte, 40<<20)...)), false},
	} {
		s, err := sample{prv: c.data}.read(0)
		if err != nil {
			t.Fatal(err)
		}
		if deliver(t, s) == 0 || hasCode(s, trace.CodeTruncated) == c.sound {
			t.Errorf("%s: findings %v", name, s.Findings())
		}
		s.Close()
	}
}
