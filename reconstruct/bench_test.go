package reconstruct

import (
	"context"
	"testing"

	"tracekit/merge"
	"tracekit/samples"
	"tracekit/stats/statstest"
)

// BenchmarkCompare and BenchmarkDiagram take a trace that is held in memory, so that they
// measure no decoding.
func BenchmarkCompare(b *testing.B) {
	tr := statstest.Merged(b, statstest.Generated(b, samples.Options{Program: "halo", Ranks: 16, Iterations: 1000}), merge.Options{Clock: merge.ClockNone})
	var events uint64
	for b.Loop() {
		events = compared(b, tr, tr, 1).Paired
	}
	perEvent(b, events)
}

func BenchmarkDiagram(b *testing.B) {
	m := statstest.Generated(b, samples.Options{Program: "halo", Ranks: 16, Iterations: 1000})
	tr := statstest.Merged(b, m, merge.Options{Clock: merge.ClockNone})
	waits := waitsOf(b, tr)
	for b.Loop() {
		if _, err := Diagram(context.Background(), tr, waits, DiagramOptions{Jobs: 1}); err != nil {
			b.Fatal(err)
		}
	}
	perEvent(b, eventsOf(m))
}

func perEvent(b *testing.B, events uint64) {
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(events), "ns/event")
}
