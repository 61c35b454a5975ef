package analysis_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tracekit/merge"
	"tracekit/samples/oracle"
	"tracekit/stats/analysis"
	"tracekit/trace"
)

// TestPatterns runs the hand-worked cases that samples has for each wait state. They name
// calls by location and event; the document has ranks.
func TestPatterns(t *testing.T) {
	patterns, err := oracle.ReadPatterns(filepath.Join("..", "..", "samples", "testdata", "patterns"))
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range patterns {
		t.Run(p.Name, func(t *testing.T) {
			tr, a := analyzed(t, p.Trace, merge.ClockNone, analysis.Options{Top: 100})
			conserved(t, tr, a)
			var found []string
			for _, w := range namedWaits(a.WaitStates) {
				for _, top := range w.state.Top {
					found = append(found, fmt.Sprintln(w.name, top.Rank, top.TimeNs))
				}
			}
			slices.Sort(found)
			if diff := cmp.Diff(byRank(t, tr, p.Want), found); diff != "" {
				t.Errorf("- is wanted, + is found:\n%s", diff)
			}
		})
	}
}

// byRank rewrites "kind location/event time" as "kind rank time", sorted.
func byRank(t *testing.T, tr *trace.Trace, want string) []string {
	var out []string
	for line := range strings.Lines(want) {
		var kind string
		var location, event, time int
		if _, err := fmt.Sscanf(line, "%s %d/%d %d\n", &kind, &location, &event, &time); err != nil {
			t.Fatal(line, err)
		}
		if strings.HasPrefix(kind, "wrong_order") {
			kind = "late_sender_wrong_order"
		}
		out = append(out, fmt.Sprintln(kind, tr.Rank[location], time))
	}
	slices.Sort(out)
	return out
}
