package stragglers_test

import (
	"math"
	"testing"

	"tracekit/document/training"
	"tracekit/merge"
	"tracekit/readers"
	"tracekit/samples"
	"tracekit/stats/stragglers"
	"tracekit/trace"
)

// TestClockError: of profiles of hosts with skewed clocks, a step takes what it does but for jitter of records and the error that the
// document states, twice the bound of the clocks. What a row costs a step is marked where the error may explain it: of equal workers all,
// of a slow one not itself. Where clocks are right nothing is marked.
func TestClockError(t *testing.T) {
	of := func(o samples.TrainingOptions) (*samples.TrainingTruth, *trace.Trace, *training.Job) {
		truth, dir := profiles(t, o, nil)
		src, err := readers.Open(t.Context(), dir, readers.OpenOptions{Jobs: 1})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { src.Close() })
		tr, err := merge.Merge(t.Context(), src, merge.Options{Jobs: 1})
		if err != nil {
			t.Fatal(err)
		}
		doc, _, err := stragglers.FindIn(t.Context(), tr, 1)
		if err != nil {
			t.Fatal(err)
		}
		return truth, tr, doc
	}
	marked := func(doc *training.Job) (rows, within int) {
		note := func(slowdown float64, is bool) {
			if may := math.Abs(slowdown-1)*float64(doc.EqualNs) <= float64(doc.ClockErrorNs); doc.ClockErrorNs > 0 && is != may {
				t.Errorf("slowdown %v of %d ns, error %d: marked %v", slowdown, doc.EqualNs, doc.ClockErrorNs, is)
			}
			rows++
			if is {
				within++
			}
		}
		note(doc.Slowdown, doc.WithinClockError)
		for _, groups := range [][]training.GroupSlow{doc.ByDP, doc.ByTP, doc.ByStage} {
			for _, g := range groups {
				note(g.Slowdown, g.WithinClockError)
			}
		}
		for _, w := range doc.ByWorker {
			note(w.Slowdown, w.WithinClockError)
		}
		for _, k := range doc.ByType {
			note(k.Slowdown, k.WithinClockError)
		}
		return rows, within
	}
	for seed := range uint64(8) {
		o := samples.TrainingOptions{DP: 3, PP: 2, MicroBatches: 4, Steps: 12, Seed: seed, Noise: 0.02, Skew: 50_000_000, Jitter: 2000}
		slow := o
		slow.Slow = []samples.SlowWorker{{Rank: 4, Factor: 1.5}}
		truth, tr, doc := of(slow)
		if bound := tr.Defs.Clock.Nanoseconds(tr.Clock.Alignment.MaxBound); doc.ClockErrorNs != 2*bound || bound == 0 {
			t.Errorf("seed %d: error %d, bound %d", seed, doc.ClockErrorNs, bound)
		}
		right := slow
		right.Skew = 0
		rightly, _, exact := of(right)
		jitter := int64(0) // what that of records makes, with right clocks
		for i, s := range exact.ByStep {
			off := s.StepNs - rightly.StepNs[i]
			jitter = max(jitter, off, -off)
		}
		for i, s := range doc.ByStep {
			if off := s.StepNs - truth.StepNs[i]; max(off, -off) > doc.ClockErrorNs+jitter {
				t.Errorf("seed %d: step %d is %d off, error %d, jitter %d", seed, i, off, doc.ClockErrorNs, jitter)
			}
		}
		marked(doc)
		if w := doc.ByWorker[0]; w.Rank != 4 || w.WithinClockError || doc.WithinClockError {
			t.Errorf("seed %d: a slow worker within the error of clocks: %+v, all %v", seed, w, doc.WithinClockError)
		}
		o.Noise, o.Jitter = 0, 100_000
		if _, _, doc = of(o); !doc.WithinClockError {
			t.Errorf("seed %d: equal workers, slowdown %v beyond the error %d", seed, doc.Slowdown, doc.ClockErrorNs)
		}
		if rows, within := marked(doc); rows != within {
			t.Errorf("seed %d: equal workers, %d of %d rows within the error", seed, within, rows)
		}
		if _, within := marked(exact); within > 0 || exact.ClockErrorNs != 0 {
			t.Errorf("seed %d: clocks are right, %d rows are marked, error %d", seed, within, exact.ClockErrorNs)
		}
	}
}
