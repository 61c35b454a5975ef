package analysis_test

import (
	"context"
	"fmt"
	"testing"

	"tracekit/merge"
	"tracekit/samples"
	"tracekit/stats/analysis"
	"tracekit/trace"
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
				if _, err := analysis.Analyze(context.Background(), tr, analysis.Options{Jobs: 1}); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(truth.Events), "ns/event")
			b.ReportMetric(float64(truth.Events)/float64(max(1, truth.Messages)), "events/message")
		})
	}
}

// BenchmarkNames measures the analysis of one location that enters so many different
// regions, twice: the cost of an event must not grow with their number.
func BenchmarkNames(b *testing.B) {
	for _, n := range []int{1e3, 1e4, 1e5} {
		b.Run(fmt.Sprintf("names=%d", n), func(b *testing.B) {
			defs := &trace.Defs{Strings: []string{""}, Locations: []trace.Location{{Events: uint64(4 * n)}}}
			defs.Clock.Resolution = 1e9
			events := new(trace.Batch)
			events.Reset(0, 0)
			for i := range 2 * n {
				if i < n {
					defs.Strings = append(defs.Strings, fmt.Sprint("region ", i))
					defs.Regions = append(defs.Regions, trace.Region{Name: trace.StringID(i + 1), File: trace.None})
				}
				events.AddFlow(int64(2*i), trace.KindEnter, trace.RegionID(i%n))
				events.AddFlow(int64(2*i+1), trace.KindLeave, trace.RegionID(i%n))
			}
			src := &trace.MemorySource{Definitions: defs, Batches: [][]*trace.Batch{{events}}}
			for b.Loop() {
				tr, err := merge.Merge(b.Context(), src, merge.Options{})
				if err != nil {
					b.Fatal(err)
				}
				if _, err := analysis.Analyze(b.Context(), tr, analysis.Options{Jobs: 1}); err != nil {
					b.Fatal(err)
				}
				tr.Store.Close()
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(4*n), "ns/event")
		})
	}
}
