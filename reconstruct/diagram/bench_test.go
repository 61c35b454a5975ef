package diagram

import (
	"context"
	"testing"

	"tracekit/merge"
	"tracekit/samples"
	"tracekit/stats/statstest"
)

// BenchmarkDiagram draws a trace in memory: it measures no decoding.
func BenchmarkDiagram(b *testing.B) {
	m := statstest.Generated(b, samples.Options{Program: "halo", Ranks: 16, Iterations: 1000})
	tr := statstest.Merged(b, m, merge.Options{Clock: merge.ClockNone})
	waits := waitsOf(b, tr)
	for b.Loop() {
		if _, err := Draw(context.Background(), tr, waits, Options{Jobs: 1}); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(tr.Coverage.EventsRead), "ns/event")
}
