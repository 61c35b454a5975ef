package diagnosis

import (
	"strings"
	"testing"

	"tracekit/document/accelerator"
	"tracekit/document/cause"
	"tracekit/document/field"
	"tracekit/document/training"
	"tracekit/stats/analysis"
)

// TestSlowHostOfWorker: rank 1 takes longer, but its device computes as long as that of rank 0: its host is late, and where is said. That
// it is slow in one step alone is said, too.
func TestSlowHostOfWorker(t *testing.T) {
	gain := int64(60)
	slow := training.Worker{Rank: 1, DP: 1, Excess: 0.6, GainNs: &gain, Pattern: training.SlowAlways, Slow: 10}
	job := &training.Job{Steps: 10, DPRanks: 2, StepNs: 160, EqualNs: 130, ByStep: []training.StepSlow{{Step: 5, Rank: 1, Excess: 6}}}
	a := &analysis.Result{}
	a.DevicePath = &accelerator.Path{Rows: []accelerator.PathRow{{Kind: "host", Name: "prepare", MaxRank: 1, MaxNs: 50}}}
	for _, c := range []struct {
		pattern   string
		slow      int
		computes  int64 // rank 1
		headline  string
		text, try string // parts
	}{
		{training.SlowAlways, 10, 100, "Rank 1 is always slow", "its host launches late, mostly in prepare (50", "between launches"},
		{training.SlowAlways, 10, 160, "Rank 1 is always slow", "It computes 60.0 % longer", "less work"},
		{training.SlowAtRandom, 1, 160, "Rank 1 is slow in step 5", "much longer in step 5 alone", "in that step"},
	} {
		slow.Pattern, slow.Slow = c.pattern, c.slow
		job.ByWorker = []training.Worker{slow, {}}
		a.Devices = []accelerator.Device{{Times: accelerator.Times{ComputeNs: 100}},
			{Rank: 1, Times: accelerator.Times{ComputeNs: c.computes}}}
		found := trainingFinder{a: a, t: job, run: 1600}.workers()
		if len(found) != 1 {
			t.Fatalf("%+v", found)
		}
		x := &found[0]
		if x.Advise(false); x.Headline != c.headline || !strings.Contains(x.Text, c.text) || !strings.Contains(x.Try, c.try) {
			t.Errorf("%s: %s Try: %s", x.Headline, x.Text, x.Try)
		}
	}
}

// TestSlowTogether: two of four workers are slow. If one alone is mended the other keeps the step as long, so that they are one cause. That
// the queues of their devices are empty, or that one of them loads data, is the same loss and no cause beside it.
func TestSlowTogether(t *testing.T) {
	none, both := int64(0), int64(60)
	job := &training.Job{Steps: 10, DPRanks: 4, StepNs: 160, EqualNs: 130, TogetherNs: &both}
	a := &analysis.Result{}
	a.Training = job
	a.Trace.DurationNs, a.DevicePath = 1600, &accelerator.Path{Rows: []accelerator.PathRow{{Kind: "loading", MaxRank: 3, MaxNs: 700}}}
	for rank := range field.Rank(4) {
		w := training.Worker{Rank: rank, DP: int(rank)}
		if rank > 1 {
			w.Excess, w.GainNs, w.Pattern, w.Slow = 0.6, &none, training.SlowAlways, 10
		}
		job.ByWorker = append(job.ByWorker, w)
		a.Devices = append(a.Devices, accelerator.Device{Rank: rank, Times: accelerator.Times{ComputeNs: 100}})
	}
	gain := int64(500)
	beside := func(kind cause.Kind, key string, ranks ...uint32) cause.Cause {
		return cause.Cause{Kind: kind, Ranks: ranks, GainNs: &gain, Evidence: map[string]float64{key: 700}}
	}
	a.Diagnosis = []cause.Cause{beside(cause.DeviceIdle, "host_bound_ns", 2, 3), beside(cause.DataLoading, "critical_path_ns", 3),
		beside(cause.DeviceIdle, "host_bound_ns", 1)}
	OfTraining(a)
	if len(a.Diagnosis) != 2 || a.Diagnosis[0].Headline != "Ranks 2 and 3 are always slow" || *a.Diagnosis[0].GainNs != 600 ||
		a.Diagnosis[1].Ranks[0] != 1 {
		t.Errorf("%+v", a.Diagnosis)
	}
	for i := range job.ByWorker {
		job.ByWorker[i] = training.Worker{Rank: field.Rank(i), Excess: 0.1, GainNs: &none, Pattern: training.SlowAtRandom, Slow: 2}
	}
	a.Diagnosis = []cause.Cause{beside(cause.DeviceIdle, "host_bound_ns")}
	if OfTraining(a); len(a.Diagnosis) != 1 || a.Diagnosis[0].Headline != "A different rank is slow in each slow step" {
		t.Errorf("%+v", a.Diagnosis)
	}
}
