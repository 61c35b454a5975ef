package stats_test

import (
	"strings"
	"testing"

	"tracekit/document/cause"
	"tracekit/merge"
	"tracekit/samples"
	"tracekit/stats"
	"tracekit/stats/analysis"
	"tracekit/stats/statstest"
)

// TestMoveWork: where a rank takes longer between barriers, others could take its work over, and the advice is to let them.
func TestMoveWork(t *testing.T) {
	src := statstest.Generated(t, samples.Options{Program: "halo", Ranks: 8, Iterations: 20, Threads: 1, Seed: 1,
		Plant: samples.Plant{Imbalance: 100_000}})
	a, err := stats.Analyze(t.Context(), statstest.Merged(t, src, merge.Options{Clock: merge.ClockNone}), analysis.Options{}, true)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range a.Diagnosis {
		if c.Kind == cause.Imbalance && len(c.Ranks) == 1 {
			if c.Ranks[0] != 7 || !strings.HasPrefix(c.Try, "move work from rank 7") {
				t.Errorf("%s: %s (%v)", c.Headline, c.Try, c.Evidence)
			}
			return
		}
	}
	t.Errorf("no such cause: %+v", a.Diagnosis)
}
