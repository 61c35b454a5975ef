package stats_test

import (
	"context"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"testing"

	"tracekit/document/cause"
	"tracekit/merge"
	"tracekit/readers"
	"tracekit/samples"
	"tracekit/stats"
	"tracekit/stats/analysis"
	"tracekit/stats/statstest"
	"tracekit/trace"
	"tracekit/trace/tracetest"
)

// jobs returns a generated job as a table and as files of a profiler.
func jobs(t *testing.T, o samples.TrainingOptions) map[string]trace.Source {
	t.Helper()
	var table *samples.Memory
	if _, err := samples.GenerateTraining(t.Context(), o, func(info trace.Info, defs *trace.Defs) (trace.Sink, error) {
		table = samples.NewMemory(info, defs)
		return table, nil
	}); err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "job")
	if _, err := samples.WriteProfiles(context.Background(), o, dir); err != nil {
		t.Fatal(err)
	}
	profiles, err := readers.Open(t.Context(), dir, readers.OpenOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = profiles.Close() })
	return map[string]trace.Source{"table": table, "profiles": profiles}
}

// TestSlowWorkersLead: a planted slow worker, or a long last stage, is the first cause, with what mending it gains; that others wait for
// late ranks is its effect. Where workers are equal no cause is about them.
func TestSlowWorkersLead(t *testing.T) {
	size := samples.TrainingOptions{DP: 4, PP: 4, MicroBatches: 8, Steps: 24, Seed: 3, Noise: 0.02, Kernels: 2}
	late := func(c cause.Cause) bool { _, ok := c.Evidence["collective_wait_ns"]; return ok }
	for _, test := range []struct {
		name     string
		plant    func(o *samples.TrainingOptions)
		headline string
		ranks    []uint32
	}{
		{"since", func(o *samples.TrainingOptions) { o.Slow = []samples.SlowWorker{{Rank: 12, Factor: 1.5, From: 10}} },
			"Rank 12 is slow since step 10", []uint32{12}},
		{"always", func(o *samples.TrainingOptions) { o.Slow = []samples.SlowWorker{{Rank: 5, Factor: 1.5}} }, "Rank 5 is always slow",
			[]uint32{5}},
		{"stage", func(o *samples.TrainingOptions) { o.LastStage = 0.5 }, "The last stage computes too long", []uint32{12, 13, 14, 15}},
		{"equal", func(*samples.TrainingOptions) {}, "", nil},
	} {
		o := size
		test.plant(&o)
		for form, src := range jobs(t, o) {
			t.Run(fmt.Sprint(test.name, " ", form), func(t *testing.T) {
				a, err := stats.Analyze(t.Context(), statstest.Merged(t, src, merge.Options{}), analysis.Options{}, true)
				if err != nil {
					t.Fatal(err)
				}
				if test.ranks == nil {
					if k := slices.IndexFunc(a.Diagnosis, func(c cause.Cause) bool { return c.Evidence["step_gain_ns"] > 0 }); k >= 0 {
						t.Errorf("equal workers: %+v", a.Diagnosis[k])
					}
					return
				}
				if len(a.Diagnosis) == 0 || slices.ContainsFunc(a.Diagnosis[1:], late) {
					t.Fatalf("%+v", a.Diagnosis)
				}
				c, of := a.Diagnosis[0], a.Training
				if c.Headline != test.headline || !slices.Equal(c.Ranks, test.ranks) || c.Try == "" {
					t.Errorf("%s %v, %q; want %s %v", c.Headline, c.Ranks, c.Try, test.headline, test.ranks)
				}
				var step float64
				if w := of.ByWorker[0].GainNs; w != nil {
					step = float64(*w)
				}
				if test.name == "stage" {
					step = min(1, *of.MS) * float64(of.StepNs-of.EqualNs)
				}
				if want := step * float64(of.Steps); math.Abs(float64(*c.GainNs)-want) > float64(of.Steps) { // each is rounded
					t.Errorf("gain %d, want %f", *c.GainNs, want)
				}
			})
		}
	}
}

// TestLateWorkerGains: where a few steps do not tell that a worker is slow for itself, that it comes late has what steps gain without it.
// In the run rank 1 sleeps 20 ms in each of four steps.
func TestLateWorkerGains(t *testing.T) {
	src, err := readers.Open(t.Context(), tracetest.Shared(t, "json/gloo"), readers.OpenOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	a, err := stats.Analyze(t.Context(), statstest.Merged(t, src, merge.Options{}), analysis.Options{}, true)
	if err != nil {
		t.Fatal(err)
	}
	if len(a.Diagnosis) == 0 || !slices.Equal(a.Diagnosis[0].Ranks, []uint32{1}) || a.Diagnosis[0].GainNs == nil {
		t.Fatalf("%+v", a.Diagnosis)
	}
	if gain := *a.Diagnosis[0].GainNs; gain < 80_000_000 || gain > 90_000_000 {
		t.Errorf("gain %d ns", gain)
	}
}
