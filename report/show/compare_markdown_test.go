package show

import (
	"html"
	"regexp"
	"strings"
	"testing"

	"tracekit/document"
	"tracekit/document/outcome"
	"tracekit/report"
	"tracekit/stats/compare"
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
			if regexp.MustCompile("&#[0-9]+;").ReplaceAllString(inner, "") != regexp.MustCompile(`[!-/:-@\[-`+"`"+`{-~]`).ReplaceAllString(name,
				"") {
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

// TestMarkdownOfModel: what a model made is marked in Markdown as it is in text.
func TestMarkdownOfModel(t *testing.T) {
	yes, share := true, 0.5
	doc := &outcome.Compare{Comparison: &compare.Comparison{Comparable: compare.Comparable{Alike: true}, RunsA: 1, RunsB: 1,
		Run: &compare.Change{A: 100, B: 150, Change: &share}, Slower: 1, Significant: 1,
		Changes: []compare.Change{{Kind: compare.KindTime, A: 100, B: 150, Change: &share, Significant: &yes}}}}
	doc.B.Rebuilt = &document.Rebuilt{From: "a|b"}
	var b strings.Builder
	CompareMarkdown(&report.Sections{W: &b, Top: 10}, doc)
	for _, want := range []string{"> **B was not recorded:** <code>", "a&#124;b", "| 100 ns | ≈ 150 ns |"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in\n%s", want, &b)
		}
	}
}

// TestHeadline: the headline names the first place that took longer, or the first that took less time if none took longer.
func TestHeadline(t *testing.T) {
	yes, up, down := true, 0.5, -0.2
	longer := compare.Change{Kind: compare.KindTime, A: 100, B: 150, Change: &up, Significant: &yes}
	longer.Region = "solve"
	waits := compare.Change{Kind: compare.KindWait, A: 100, B: 80, Change: &down, Significant: &yes}
	waits.Region, waits.Operation = "norm", "MPI_Allreduce"
	for _, c := range []struct {
		changes      []compare.Change
		slower       int
		run          compare.Change
		want, absent string
	}{
		{changes: []compare.Change{waits, longer}, slower: 1, want: "Slower beyond noise: `solve` +50.0 %", absent: "more"},
		{changes: []compare.Change{longer, waits, longer}, slower: 2, want: "`solve` +50.0 % and 1 more"},
		{changes: []compare.Change{waits}, want: "Faster beyond noise: waits of `MPI_Allreduce` in `norm` -20.0 %"},
		{run: compare.Change{A: 100, B: 80, Significant: &yes}, want: "Faster beyond noise, spread over many places"},
		{run: compare.Change{A: 100, B: 150, Significant: &yes}, want: "Slower beyond noise, spread over many places"},
	} {
		got := headline(&outcome.Compare{Comparison: &compare.Comparison{Comparable: compare.Comparable{Alike: true}, Changes: c.changes,
			Slower: c.slower, Significant: len(c.changes), Run: &c.run}})
		if !strings.Contains(got, c.want) || c.absent != "" && strings.Contains(got, c.absent) {
			t.Errorf("want %q, got %q", c.want, got)
		}
	}
}
