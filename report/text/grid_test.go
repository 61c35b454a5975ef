package text

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"

	"tracekit/document/field"
	"tracekit/document/words"
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
		got := Shorten(c.name, c.width)
		if got != c.want || utf8.RuneCountInString(got) > c.width {
			t.Errorf("shorten(%q, %d) = %q, want %q", c.name, c.width, got, c.want)
		}
	}
}

// TestNamesThatLookAlike states that names which share a shortened form are told apart, also
// files of one name in two folders, and that a line which is only that of a region is marked.
func TestNamesThatLookAlike(t *testing.T) {
	g := &Grid{Heading: "Table", Titles: []string{"<name", "<at", "time"}}
	at := func(file, of string) string {
		return words.Place(field.SourceLine{Region: "step", File: field.Name(file), Line: 7, LineOf: field.Name(of)})
	}
	g.Add("first_library_of_long_name::initialise", at("a/util.c", field.LineOfCall), "1 ns")
	g.Add("second_library_of_long_name::initialise", at("b/util.c", field.LineOfCall), "2 ns")
	g.Add("other", at("c/main.c", field.LineOfRegion), "3 ns")
	var out bytes.Buffer
	g.Print(&out, 50)
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

// TestGridWithoutHeading states that a table without a heading begins with its titles.
func TestGridWithoutHeading(t *testing.T) {
	g := Grid{Titles: []string{"<name", "n"}}
	g.Add("a", "1")
	var b strings.Builder
	if g.Print(&b, 80); !strings.HasPrefix(b.String(), "name") {
		t.Errorf("%q", b.String())
	}
}
