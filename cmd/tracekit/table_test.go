package main

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"unicode/utf8"

	"tracekit/document/field"
)

// TestShorten states that a name keeps its telling end.
func TestShorten(t *testing.T) {
	for _, c := range []struct {
		name  string
		width int
		want  string
	}{
		{"abcdefghij", 10, "abcdefghij"},
		{"abcdefghij", 7, "…efghij"},
		{"äöüäöüäöü", 6, "…öüäöü"},
		{"exchange (src/halo2d.c:63)", 40, "exchange (halo2d.c:63)"},
		{"exchange (src/halo2d.c:63)", 18, "…nge (halo2d.c:63)"},
		{"exchange+ (src/halo2d.c:63)", 19, "…nge+ (halo2d.c:63)"},
		{"exchange (src/halo2d.c:63)", 12, "halo2d.c:63"},
		{"app::Grid<double, 3>::update(std::vector<int> const&, int)", 28, "app::Grid<…>::update(…)"},
		{"app::Grid<double, 3>::update(std::vector<int> const&, int)", 17, "app::Grid::update"},
		{"app::Grid<double, 3>::update(std::vector<int> const&, int)", 10, "…d::update"},
		{"(anonymous namespace)::solve(int)", 20, "(…)::solve(…)"},
		{"operator<<", 8, "…rator<<"},
		{"PAPI_TOT_INS [Instr completed]", 16, "PAPI_TOT_INS […]"},
		{"PAPI_TOT_INS [Instr completed]", 15, "PAPI_TOT_INS"},
		{"a->b", 3, "…>b"},
	} {
		got := shorten(c.name, c.width)
		if got != c.want || utf8.RuneCountInString(got) > c.width {
			t.Errorf("shorten(%q, %d) = %q, want %q", c.name, c.width, got, c.want)
		}
	}
}

// TestNamesThatLookAlike states that names which share a shortened form are told apart, also
// files of one name in two folders, and that a line which is only that of a region is marked.
func TestNamesThatLookAlike(t *testing.T) {
	g := &grid{heading: "Table", titles: []string{"<name", "<at", "time"}}
	at := func(file, of string) string {
		return place(field.SourceLine{Region: "step", File: field.Name(file), Line: 7, LineOf: field.Name(of)})
	}
	g.add("first_library_of_long_name::initialise", at("a/util.c", field.LineOfCall), "1 ns")
	g.add("second_library_of_long_name::initialise", at("b/util.c", field.LineOfCall), "2 ns")
	g.add("other", at("c/main.c", field.LineOfRegion), "3 ns")
	var out bytes.Buffer
	g.print(&out, 50)
	for _, want := range []string{
		"long_name::initialise #1", "util.c:7 #2", "long_name::initialise #3", "util.c:7 #4", "  step+ (main.c:7)",
		"\n#1 first_library_of_long_name::initialise\n", "\n#2 step (a/util.c:7)\n", "\n#4 step (b/util.c:7)\n",
		"\n+ somewhere in the region",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, out.String())
		}
	}
}

// TestReportsFitTheTerminal: no line of a report is wider than the terminal, but for words
// that have no place to break, and the names of functions are whole or end as they do.
func TestReportsFitTheTerminal(t *testing.T) {
	for _, name := range []string{"zoo-4", "halo2d-8", "masterworker-4"} {
		archive := sampleArchive(t, name)
		for _, width := range []int{60, 80, 140} {
			for _, command := range []string{"analyze", "info", "fit"} {
				var out, errs bytes.Buffer
				if code := run(context.Background(), &streams{Out: &out, Err: &errs, Width: width}, []string{command, archive}); code != exitDone {
					t.Fatal(errs.String())
				}
				for line := range strings.Lines(out.String()) {
					line = strings.TrimRight(line, "\n")
					if n := utf8.RuneCountInString(line); n > width && strings.Contains(strings.TrimSpace(line), " ") && !strings.Contains(line, archive) {
						t.Errorf("%s %s: a line of %d columns on %d:\n%s", command, name, n, width, line)
					}
				}
			}
		}
	}
}
