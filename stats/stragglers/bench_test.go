package stragglers_test

import (
	"context"
	"testing"

	"tracekit/readers"
	"tracekit/samples"
	"tracekit/stats/stragglers"
	"tracekit/trace"
)

// BenchmarkProfiles measures what finding a job in profiles takes (find), beside opening them (open).
func BenchmarkProfiles(b *testing.B) {
	_, dir := profiles(b, samples.TrainingOptions{DP: 8, PP: 4, TP: 4, MicroBatches: 8, Steps: 24, Kernels: 7, Noise: 0.02}, nil)
	open := func() trace.Source {
		src, err := readers.OpenAll(context.Background(), []string{dir}, readers.OpenOptions{Jobs: 1})
		if err != nil {
			b.Fatal(err)
		}
		return src
	}
	b.Run("open", func(b *testing.B) {
		for b.Loop() {
			open().Close()
		}
	})
	src := open()
	defer src.Close()
	b.Run("find", func(b *testing.B) {
		for b.Loop() {
			if _, ok, err := stragglers.FindRecorded(context.Background(), src, 1); err != nil || !ok {
				b.Fatal(ok, err)
			}
		}
	})
}
