package trace_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"tracekit/trace"
)

// TestShortenNames: a name of any length is kept as far as documents can repeat it, and no
// character is cut apart.
func TestShortenNames(t *testing.T) {
	const most = 64 << 10
	for _, c := range []struct {
		name string
		cut  bool
	}{
		{"", false}, {"main", false}, {strings.Repeat("x", most), false},
		{strings.Repeat("x", most+1), true}, {strings.Repeat("x", 10<<20), true},
		{"x" + strings.Repeat("€", most/3+1), true}, {strings.Repeat("\x80", most+5), true},
	} {
		d := &trace.Defs{Strings: []string{"before", c.name}}
		n, got := d.ShortenNames(), d.Strings[1]
		if cut := n == 1; cut != c.cut || d.Strings[0] != "before" || !c.cut && got != c.name {
			t.Errorf("of %d bytes %d were kept, %d names cut", len(c.name), len(got), n)
		}
		if len(got) > most+len("…") || c.cut && (!strings.HasSuffix(got, "…") || !strings.HasPrefix(c.name, strings.TrimSuffix(got, "…"))) {
			t.Errorf("of %d bytes %d were kept", len(c.name), len(got))
		}
		if utf8.ValidString(c.name) && !utf8.ValidString(got) {
			t.Errorf("a character was cut apart")
		}
	}
}
