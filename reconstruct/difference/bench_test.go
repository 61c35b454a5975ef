package difference

import (
	"testing"

	"tracekit/merge"
	"tracekit/samples"
	"tracekit/stats/statstest"
)

// BenchmarkCompare compares a trace in memory with itself: it measures no decoding.
func BenchmarkCompare(b *testing.B) {
	tr := statstest.Merged(b, statstest.Generated(b, samples.Options{Program: "halo", Ranks: 16, Iterations: 1000}),
		merge.Options{Clock: merge.ClockNone})
	var events uint64
	for b.Loop() {
		events = compared(b, tr, tr, 1).Paired
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(events), "ns/event")
}
