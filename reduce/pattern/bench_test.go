package pattern_test

import (
	"fmt"
	"testing"

	"tracekit/merge"
	"tracekit/reduce/pattern"
	"tracekit/samples"
	"tracekit/stats/statstest"
	"tracekit/trace"
	"tracekit/trace/tracetest"
)

// BenchmarkFind and BenchmarkRegenerate count the events of the full trace on one core, without
// reading it from a file and reconciling it.
func BenchmarkFind(b *testing.B)       { bench(b, false) }
func BenchmarkRegenerate(b *testing.B) { bench(b, true) }

func bench(b *testing.B, regenerate bool) {
	for _, iterations := range []int{100, 1000, 10000} {
		b.Run(fmt.Sprintf("iterations=%d", iterations), func(b *testing.B) {
			src := statstest.Generated(b, samples.Options{Program: "halo", Ranks: 8, Iterations: iterations, Seed: 3})
			m := statstest.Merged(b, src, merge.Options{})
			r, reduced := cut(b, m, pattern.Options{})
			before := tracetest.ProcessorTime(b).Seconds()
			for b.Loop() {
				if !regenerate {
					if _, err := pattern.Find(b.Context(), m, pattern.Options{Jobs: 1}); err != nil {
						b.Fatal(err)
					}
					continue
				}
				again := regenerated(b, reduced, r.Repeats)
				for l := range m.Defs.Locations {
					for range again.Events(b.Context(), trace.LocationID(l)) {
					}
				}
			}
			b.ReportMetric(float64(events(m))*float64(b.N)/(tracetest.ProcessorTime(b).Seconds()-before)/1e6, "Mevents/cpu-s")
		})
	}
}
