package sampling

import (
	"fmt"
	"math"
	"os"
	"testing"

	"tracekit/samples"
	"tracekit/trace"
	"tracekit/trace/tracetest"
)

// TestCoverageStudy counts how often the 95 % intervals hold the truth over 1,000 seeds. It is the
// study of docs/internals/SAMPLING.md: TRACEKIT_STUDY=1 go test ./stats/studies/sampling -run CoverageStudy -v
func TestCoverageStudy(t *testing.T) {
	if os.Getenv("TRACEKIT_STUDY") == "" {
		t.Skip("a study: set TRACEKIT_STUDY")
	}
	names := []string{"P-0.01-STAT", "P-0.05-STAT", "P-0.1-STAT", "P-0.2-STAT", "P-0.5-STAT", "C-99-V50-STAT", "C-19-V10-STAT", "C-4-V2-STAT"}
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
		{"npb-cg-W-8", func() *trace.Trace { return opened(t, tracetest.Shared(t, "otf2/npb-cg-W-8-run1")) }},
		{"npb-lu-S-4", func() *trace.Trace { return opened(t, tracetest.Shared(t, "otf2/npb-lu-S-4")) }},
		{"npb-bt-S-16", func() *trace.Trace { return opened(t, tracetest.Shared(t, "otf2/npb-bt-S-16")) }},
		{"npb-mg-W-8", func() *trace.Trace { return opened(t, tracetest.Shared(t, "otf2/npb-mg-W-8")) }},
		{"sweep3d_6", func() *trace.Trace { return opened(t, tracetest.Shared(t, "paraver/sweep3d_6")) }},
	} {
		tr := x.open()
		for _, name := range names {
			line := fmt.Sprintf("%-16s %-14s %7d messages", x.name, name, made(t, tr, Options{}, name).Population.Messages)
			for q, c := range intervals(t, tr, name, 1000) {
				line += fmt.Sprintf("  %s %5.1f %% of %4d (bias %+.2f %%, %.1f %% within 5 %%)", []string{"messages", "bytes", "latency", "counted"}[q],
					100*c.held/max(1, c.given), int(c.given), 100*c.bias, 100*c.within)
			}
			t.Log(line)
		}
	}
}

// TestIntervalsHold: of 1,000 seeds 93 to 97 % give 95 % intervals that hold the truth, and
// estimates have no bias.
func TestIntervalsHold(t *testing.T) {
	for _, program := range []string{"multigrid", "sweep"} {
		tr := generated(t, samples.Options{Program: program, Ranks: 16, Iterations: 50, Seed: 1})
		for _, name := range []string{"P-0.05-STAT", "C-19-V10-STAT"} {
			for q, c := range intervals(t, tr, name, 1000) {
				share := c.held / c.given
				if c.given > 0 && (share < 0.93 || share > 0.97) && (name[0] == 'P' || share < 1 && q >= 2) {
					t.Errorf("%s, %s: of estimate %d, %g of %g intervals hold the truth", program, name, q, c.held, c.given)
				}
				if math.Abs(c.bias) > 0.01 {
					t.Errorf("%s, %s: estimate %d is off by %g", program, name, q, c.bias)
				}
			}
		}
	}
}

// A count says how many intervals were given and held the truth, how far estimates are off in
// the mean, and which share of them is within 5 % of the truth.
type count struct{ given, held, bias, within float64 }

// intervals tries a configuration with many seeds: messages, bytes, latency, and latency where ranks count their sends.
func intervals(t *testing.T, tr *trace.Trace, name string, seeds int) (counts [4]count) {
	t.Helper()
	list := make([]Config, 0, seeds)
	for s := range seeds {
		c, err := Parse(name, Defaults{Seed: 1 + uint64(s)})
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
	truth := [4]float64{float64(all.Messages), float64(all.Bytes.sum), float64(all.Latency.sum), float64(all.Latency.sum)}
	for k := range seeds {
		w := weigh(r, k)
		for q, e := range []estimate{w.messages(), w.bytes(), w.latency(), weighCounted(r, k).latency()} {
			c, slack := &counts[q], 1e-9*truth[q]
			c.bias += (e.value - truth[q]) / truth[q] / float64(seeds)
			if math.Abs(e.value-truth[q]) <= 0.05*truth[q] {
				c.within += 1 / float64(seeds)
			}
			if math.IsNaN(e.low) || math.IsNaN(e.high) {
				continue
			}
			c.given++
			if e.low-slack <= truth[q] && truth[q] <= e.high+slack {
				c.held++
			}
		}
	}
	return counts
}
