package whatif

import (
	"context"
	"fmt"
	"testing"

	"tracekit/merge"
	"tracekit/samples"
	"tracekit/stats/analysis"
	"tracekit/stats/statstest"
)

// BenchmarkPredict measures making the model and replaying with a change, on one core, per call
// of the trace; analyzing it is what both come after.
func BenchmarkPredict(b *testing.B) {
	for _, program := range []string{"halo", "sweep", "collectives"} {
		for _, iterations := range []int{200, 2000} {
			tr := statstest.Merged(b, statstest.Generated(b, samples.Options{Program: program, Ranks: 16, Iterations: iterations, Seed: 1}),
				merge.Options{Jobs: 1})
			calls := 0
			for _, c := range tr.Calls {
				calls += c.Len()
			}
			var a *analysis.Result
			var m *Model
			measure := func(what string, once func() error) {
				b.Run(fmt.Sprintf("%s/program=%s/iterations=%d", what, program, iterations), func(b *testing.B) {
					for b.Loop() {
						if err := once(); err != nil {
							b.Fatal(err)
						}
					}
					b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(calls), "ns/call")
				})
			}
			measure("analyze", func() (err error) {
				a, err = analysis.Analyze(context.Background(), tr, analysis.Options{Jobs: 1})
				return err
			})
			measure("model", func() (err error) {
				if m != nil {
					m.Release()
				}
				m, err = New(context.Background(), tr, a, 1)
				return err
			})
			measure("predict", func() error {
				_, err := m.Predict(context.Background(), Scale(place(b, m, work...), 0.5))
				return err
			})
		}
	}
}
