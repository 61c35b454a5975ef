package tkf_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tracekit/document"
	"tracekit/document/field"
	"tracekit/formulae"
	"tracekit/formulae/tkf"
	"tracekit/merge"
	"tracekit/stats/analysis"
	"tracekit/stats/statstest"
	"tracekit/trace"
	"tracekit/trace/tracetest"
)

// With a Leave missing, or one too many, a call path was gone through as often in a trace, in
// its lossless file and in what is rebuilt from its statistics.
func TestRepairedCallStacksAgree(t *testing.T) {
	for _, c := range []struct {
		name   string
		broken string // the events of the third iteration
		visits map[string]uint64
	}{
		{"sound", "Enter f ; Leave f", map[string]uint64{"main": 1, "main iter": 200, "main iter f": 200}},
		{"missing", "Enter f", map[string]uint64{"main": 1, "main iter": 200, "main iter f": 200}},
		{"missing twice", "Enter f ; Enter g", map[string]uint64{"main": 1, "main iter": 200, "main iter f": 200, "main iter f g": 1}},
		{"of nothing", "Leave g ; Enter f ; Leave f", map[string]uint64{"main": 1, "main iter": 200, "main iter f": 200}},
	} {
		t.Run(c.name, func(t *testing.T) {
			src := iterations(t, c.broken)
			lossless, _ := compress(t, src, tkf.Options{})
			rebuilt, report := compress(t, src, tkf.Options{Mode: tkf.Statistics, Durations: formulae.Means})
			for what, s := range map[string]trace.Source{"trace": src, "lossless": openTKF(t, lossless), "rebuilt": openTKF(t, rebuilt)} {
				if d := cmp.Diff(c.visits, visits(t, s)); d != "" {
					t.Errorf("%s:\n%s", what, d)
				}
			}
			if s := report.Statistics; s.AddedEvents+s.DroppedEvents != 0 { // all is kept as it was
				t.Errorf("%d leaves added, %d dropped", s.AddedEvents, s.DroppedEvents)
			}
		})
	}
}

// iterations returns a trace of 200 iterations that call f, of which the third is broken.
func iterations(t *testing.T, broken string) trace.Source {
	var text strings.Builder
	text.WriteString("location 0 rank=0\n")
	time := 0
	write := func(events string) {
		for _, e := range strings.Split(events, " ; ") {
			time += 10
			fmt.Fprintf(&text, "  %d %s\n", time, e)
		}
	}
	write("Enter main")
	for i := range 200 {
		write("Enter iter")
		if i == 2 {
			write(broken)
		} else {
			write("Enter f ; Leave f")
		}
		write("Leave iter")
	}
	write("Leave main")
	return tracetest.MustParse(t, text.String())
}

// visits returns how often each call path of a trace was gone through.
func visits(t *testing.T, src trace.Source) map[string]uint64 {
	t.Helper()
	_, a := statstest.Analyzed(t, src, merge.Options{}, analysis.Options{})
	n := make(map[string]uint64)
	rows := make(map[field.Path]document.CallPathRow)
	for _, p := range a.CallPaths {
		rows[p.ID] = p
	}
	for _, p := range a.CallPaths {
		path := p.Region
		for up, ok := rows[p.Parent]; ok; up, ok = rows[up.Parent] {
			path = up.Region + " " + path
		}
		n[path] = p.Count
	}
	return n
}

// TestEndlessRecursion: a lossless file keeps regions that are too deep for a call stack as they are, so that
// it has the profile of the trace.
func TestEndlessRecursion(t *testing.T) {
	const more = 1000 // than there is room for
	src := tracetest.MustParse(t, `
region 0 f
location 0 rank=0
  10 Enter g ; 20 Leave g ; 30 Leave f ; 40 Enter f
`)
	tracetest.Inside(src, trace.MaxDepth+more)
	name, report := compress(t, src, tkf.Options{})
	if checkSame(t, src, openTKF(t, name)); report.Sizes.File > 1<<16 {
		t.Errorf("%d bytes", report.Sizes.File)
	}
	_, want := statstest.Analyzed(t, src, merge.Options{}, analysis.Options{})
	_, got := statstest.Analyzed(t, openTKF(t, name), merge.Options{}, analysis.Options{})
	if d := cmp.Diff(want.Profile, got.Profile); d != "" || len(want.Profile) == 0 {
		t.Errorf("of %d regions:\n%s", len(want.Profile), d)
	}
}
