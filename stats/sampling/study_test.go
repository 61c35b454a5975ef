package sampling

import (
	"fmt"
	"math"
	"os"
	"testing"

	"tracekit/samples"
	"tracekit/trace"
)

// TestCoverageStudy counts how often the 95 % intervals hold the truth over 1,000 seeds. It is the
// study of docs/SAMPLING.md: TRACEKIT_STUDY=1 go test ./stats/sampling -run CoverageStudy -v
func TestCoverageStudy(t *testing.T) {
	if os.Getenv("TRACEKIT_STUDY") == "" {
		t.Skip("a study: set TRACEKIT_STUDY")
	}
	const seeds = 1000
	names := []string{"P-0.01-STAT", "P-0.05-STAT", "P-0.2-STAT", "C-99-V50-STAT", "C-19-V10-STAT", "C-4-V2-STAT"}
	for _, x := range []struct {
		name string
		open func() *trace.Trace
	}{
		{"halo, 16 ranks", func() *trace.Trace {
			return generated(t, samples.Options{Program: "halo", Ranks: 16, Iterations: 500, Seed: 1})
		}},
		{"sweep, 16 ranks", func() *trace.Trace {
			return generated(t, samples.Options{Program: "sweep", Ranks: 16, Iterations: 500, Seed: 1})
		}},
		{"npb-cg-W-8", func() *trace.Trace { return opened(t, shared(t, "otf2/npb-cg-W-8-run1")) }},
		{"npb-mg-W-8", func() *trace.Trace { return opened(t, shared(t, "otf2/npb-mg-W-8")) }},
		{"sweep3d_6", func() *trace.Trace { return opened(t, shared(t, "paraver/sweep3d_6")) }},
	} {
		tr := x.open()
		for _, name := range names {
			list := make([]Config, 0, seeds)
			for s := range uint64(seeds) {
				c, err := Parse(name, Defaults{Seed: 1 + s})
				if err != nil {
					t.Fatal(err)
				}
				list = append(list, c)
			}
			r, err := pass(t.Context(), tr, list, Options{totals: true})
			if err != nil {
				t.Fatal(err)
			}
			all := r.sumsOf(seeds)
			truth := [3]float64{float64(all.Messages), float64(all.Bytes.sum), float64(all.Latency.sum)}
			line := fmt.Sprintf("%-16s %-14s %7d messages", x.name, name, all.Messages)
			for q, what := range []string{"messages", "bytes", "latency"} {
				held, given, off := 0, 0, 0.0
				for k := range seeds {
					w := weigh(r, k)
					e := []estimate{w.messages(), w.bytes(), w.latency()}[q]
					off += (e.value - truth[q]) / truth[q] / seeds
					if math.IsNaN(e.low) || math.IsNaN(e.high) {
						continue
					}
					given++
					if slack := 1e-9 * truth[q]; e.low-slack <= truth[q] && truth[q] <= e.high+slack {
						held++
					}
				}
				line += fmt.Sprintf("  %s %5.1f %% of %4d (bias %+.2f %%)", what, 100*float64(held)/math.Max(1, float64(given)), given, 100*off)
			}
			t.Log(line)
		}
	}
}
