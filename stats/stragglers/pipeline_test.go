package stragglers_test

import (
	"testing"

	"tracekit/samples"
	"tracekit/stats/stragglers"
)

// TestPipeline: of a generated job, the longest step comes first; computations of a worker follow each other within its step, each
// micro-batch once forward and once backward; the slow worker has the excess that was planted.
func TestPipeline(t *testing.T) {
	truth, src := generated(t, samples.TrainingOptions{DP: 2, PP: 3, MicroBatches: 4, Steps: 5,
		Slow: []samples.SlowWorker{{Rank: 3, Factor: 1.5}}})
	doc, p, err := stragglers.Find(t.Context(), src, 1)
	if err != nil {
		t.Fatal(err)
	}
	if len(p.Steps) != 5 || len(p.Computations) != 3*4*2 || len(p.Workers) != 6 || p.Stages != 3 {
		t.Fatalf("%d steps of %d computations on %d workers, %d stages", len(p.Steps), len(p.Computations), len(p.Workers), p.Stages)
	}
	seen := make(map[stragglers.Computation]bool)
	for _, c := range p.Computations {
		if seen[c] || c.Batch >= 4 || c.Type >= 2 {
			t.Errorf("computation %+v is there twice, or none", c)
		}
		seen[c] = true
	}
	for _, s := range p.Steps {
		row := doc.ByStep[s.Index]
		if row.StepNs > doc.ByStep[p.Steps[0].Index].StepNs || row.ToNs-row.FromNs != truth.StepNs[s.Index] {
			t.Errorf("step %d takes %d, from %d to %d, and is not the first", s.Index, row.StepNs, row.FromNs, row.ToNs)
		}
		for d, times := range s.Times {
			at, stage := int64(0), -1
			for k, c := range p.Computations {
				if c.Stage != stage {
					at, stage = 0, c.Stage
				}
				if times[2*k] < 0 || times[2*k+1] <= 0 {
					t.Errorf("step %d, dp %d: computation %d begins %d after the one before and takes %d", s.Index, d, k, times[2*k], times[2*k+1])
				}
				if at += times[2*k] + times[2*k+1]; at > truth.StepNs[s.Index] {
					t.Errorf("step %d, dp %d: computation %d ends after %d, the step after %d", s.Index, d, k, at, truth.StepNs[s.Index])
				}
			}
		}
		if worst := doc.ByWorker[0]; worst.Rank != 3 || row.Rank != 3 || s.Excess[0] < 0.45 || s.Excess[0] > 0.55 ||
			row.Excess-s.Excess[0] > 1e-4 {
			t.Errorf("step %d: rank %d is slow by %v, rank %d by %v; want rank 3 by 0.5", s.Index, worst.Rank, s.Excess[0], row.Rank, row.Excess)
		}
	}
	if p.Keep(2); len(p.Steps) != 2 {
		t.Error("more steps are kept than asked for")
	}
}
