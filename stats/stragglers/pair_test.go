package stragglers

import (
	"slices"
	"testing"

	"tracekit/samples"
	"tracekit/trace"
)

// TestPair states that a pair of data-parallel ranks takes as long as all of them, to the bit.
func TestPair(t *testing.T) {
	for _, o := range []samples.TrainingOptions{
		{DP: 1, PP: 4, MicroBatches: 4, Steps: 3, Noise: 0.1},
		{DP: 2, PP: 1, MicroBatches: 2, Steps: 3, Noise: 0.1},
		{DP: 5, PP: 3, MicroBatches: 6, Steps: 4, Noise: 0.1, Slow: []samples.SlowWorker{{Rank: 4, Factor: 2}}},
		{DP: 3, PP: 2, TP: 2, MicroBatches: 4, Steps: 3, Noise: 0.1},
	} {
		var src *samples.Memory
		if _, err := samples.GenerateTraining(t.Context(), o, func(info trace.Info, defs *trace.Defs) (trace.Sink, error) {
			src = samples.NewMemory(info, defs)
			return src, nil
		}); err != nil {
			t.Fatal(err)
		}
		_, r, err := open(t.Context(), src, 1)
		if err != nil {
			t.Fatal(err)
		}
		for _, g := range r.groups(byDP) {
			want := r.lengths(func(n int) bool { return r.dpOf(int(r.by[n])) == g.number })
			if got := r.lengthsOf(g); !slices.Equal(got, want) {
				t.Errorf("%+v, dp rank %d: %v, want %v", o, g.number, got, want)
			}
		}
		if unpaired := r.pair == nil; unpaired != (o.DP == 1) {
			t.Errorf("%+v: unpaired %t", o, unpaired)
		}
	}
}
