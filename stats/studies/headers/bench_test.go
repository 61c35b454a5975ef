package headers_test

import (
	"context"
	"fmt"
	"testing"

	"tracekit/merge"
	"tracekit/samples"
	"tracekit/stats/analysis"
	"tracekit/stats/statstest"
	"tracekit/stats/studies/headers"
)

// BenchmarkMake measures the cost of a profile per message: it grows neither with the run nor
// with the number of ranks.
func BenchmarkMake(b *testing.B) {
	for _, x := range []struct{ ranks, iterations int }{{16, 100}, {16, 1600}, {256, 100}, {1024, 100}} {
		b.Run(fmt.Sprintf("ranks=%d/iterations=%d", x.ranks, x.iterations), func(b *testing.B) {
			src := statstest.Generated(b, samples.Options{Program: "halo", Ranks: x.ranks, Iterations: x.iterations, Seed: 1})
			tr, a, p := made(b, src, merge.Options{Jobs: 1}, analysis.Options{Jobs: 1}, headers.Options{Jobs: 1})
			messages := uint64(0)
			for _, s := range p.Sizes {
				messages += s.Messages
			}
			for b.Loop() {
				if _, err := headers.Make(context.Background(), tr, a, headers.Options{Jobs: 1, Layout: headers.Layout92}); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(messages), "ns/message")
		})
	}
}
