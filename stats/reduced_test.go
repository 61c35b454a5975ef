package stats_test

import (
	"testing"

	"tracekit/merge"
	"tracekit/reduce"
	"tracekit/samples"
	"tracekit/stats"
	"tracekit/stats/analysis"
	"tracekit/stats/measurement"
	"tracekit/stats/statstest"
	"tracekit/stats/studies/sampling"
	"tracekit/trace"
)

func analyzed(t *testing.T, src trace.Source) (*trace.Trace, *analysis.Result) {
	t.Helper()
	tr := statstest.Merged(t, src, merge.Options{Clock: merge.ClockNone})
	a, err := stats.Analyze(t.Context(), tr, analysis.Options{}, true)
	if err != nil {
		t.Fatal(err)
	}
	return tr, a
}

// sampled returns the trace of the messages that a configuration has sampled.
func sampled(t *testing.T, tr *trace.Trace, x *sampling.Result) trace.Source {
	t.Helper()
	r, err := reduce.Apply(t.Context(), tr, []reduce.Rule{x.Rule()}, reduce.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return r.Source(tr.Source)
}

// TestSampledTrace states that an analysis of a trace with a fifth of the messages does not say what needs the others, and that the sums
// that it estimates are those of the whole trace: the intervals hold the truth in at least 17 of 20 samples, 19 are expected.
func TestSampledTrace(t *testing.T) {
	whole := statstest.Generated(t, samples.Options{Program: "halo", Ranks: 8, Iterations: 100, Threads: 1, Seed: 1,
		Plant: samples.Plant{LateSender: 5000}})
	tr, truth := analyzed(t, whole)
	held := map[string]int{}
	for seed := range uint64(20) {
		c, err := sampling.Parse("P-0.2-WRITE", sampling.Defaults{Seed: seed + 1})
		if err != nil {
			t.Fatal(err)
		}
		d, err := sampling.Make(t.Context(), tr, []sampling.Config{c}, sampling.Options{Cost: measurement.Photon()})
		if err != nil {
			t.Fatal(err)
		}
		_, a := analyzed(t, sampled(t, tr, d.Results()[0]))
		if a.Efficiency != nil || a.Diagnosis != nil || a.CriticalPath != nil || a.Delays != nil {
			t.Fatalf("a sample has efficiencies, causes, delays or a critical path, though %.0f %% of the time is cut",
				100*a.Trace.Reduced.CutShare)
		}
		for _, e := range a.Trace.Reduced.Estimates {
			want := map[string]float64{"messages.count": float64(truth.Messages.Count), "messages.bytes": float64(truth.Messages.Bytes)}
			for k, s := range truth.WaitStates.All {
				want["wait_states."+k.Info().Key+".time_ns"] = float64(s.TimeNs)
			}
			if *e.Low <= want[e.Key] && want[e.Key] <= *e.High {
				held[e.Key]++
			} else {
				held[e.Key] += 0
			}
		}
	}
	for _, key := range []string{"messages.count", "messages.bytes", "wait_states.late_sender.time_ns"} {
		if held[key] < 17 {
			t.Errorf("%s: the interval holds the truth in %d of 20 samples", key, held[key])
		}
	}
	if _, a := analyzed(t, whole); a.Trace.Reduced != nil || a.Efficiency == nil || a.Diagnosis == nil {
		t.Error("the whole trace is said to be reduced, or lacks efficiencies or causes")
	}
}
