package show

import (
	"html"
	"regexp"
	"strings"
	"testing"
)

// TestCodeSpan states that a name from a trace is shown as it is, in a cell of a table too, whatever it holds: no cell, span or tag ends
// in it, and nobody is mentioned.
func TestCodeSpan(t *testing.T) {
	for _, name := range []string{"interior (halo.c:80)", "void f<int>(T*, @user) [clone]", "operator|", "a`b", "``", `a\|b`, "</details>",
		"<script>`|", "# x", "a & b | &lt;", "**x** _y_ `|", "Größe|"} {
		got := codeSpan(name)
		inner, span := strings.CutPrefix(got, "`")
		if inner = strings.TrimSuffix(inner, "`"); span && strings.ContainsAny(inner, "`|\\") {
			t.Errorf("%q: the span %s ends early", name, got)
		}
		if !span {
			inner = strings.TrimSuffix(strings.TrimPrefix(got, "<code>"), "</code>")
			if regexp.MustCompile("&#[0-9]+;").ReplaceAllString(inner, "") != regexp.MustCompile(`[!-/:-@\[-`+"`"+`{-~]`).ReplaceAllString(name, "") {
				t.Errorf("%q: %s has other characters than entities and letters", name, got)
			}
			inner = html.UnescapeString(inner)
		}
		if inner != name {
			t.Errorf("%q is shown as %q", name, inner)
		}
	}
	if got := codeSpan("a\n| b |\r\n"); strings.ContainsAny(got, "\n\r|") {
		t.Errorf("a line ends in %q", got)
	}
}
