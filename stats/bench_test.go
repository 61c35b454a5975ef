package stats_test

import (
	"context"
	"testing"

	"tracekit/merge"
	"tracekit/samples"
	"tracekit/stats"
)

// BenchmarkAnalyze measures the analysis of merged traces that are held in memory, on one
// core. Halo exchanges with messages in every second call are the hard case; a sequential
// program with few messages is that of the profile alone.
func BenchmarkAnalyze(b *testing.B) {
	for _, program := range []string{"halo", "ring", "multigrid", "collectives"} {
		b.Run("program="+program, func(b *testing.B) {
			src, truth := generated(b, samples.Options{Program: program, Ranks: 8, Iterations: 1000, Seed: 1})
			tr, err := merge.Merge(context.Background(), src, merge.Options{Clock: merge.ClockNone})
			if err != nil {
				b.Fatal(err)
			}
			defer tr.Store.Close()
			for b.Loop() {
				if _, err := stats.Analyze(context.Background(), tr, stats.Options{Jobs: 1}); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(truth.Events), "ns/event")
			b.ReportMetric(float64(truth.Events)/float64(max(1, truth.Messages)), "events/message")
		})
	}
}
