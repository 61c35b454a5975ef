package diagnosis

import (
	"strings"
	"testing"

	"tracekit/document/accelerator"
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
