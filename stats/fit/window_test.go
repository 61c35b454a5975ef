package fit

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// BenchmarkWindow fits in windows of 1 ns, as many as the range has: the cost is that of the calls, not
// of the range.
func BenchmarkWindow(b *testing.B) {
	for _, bits := range []int{12, 24, 48, 62} {
		for _, n := range []int{1000, 4000, 16000, 64000} {
			r := rand.New(rand.NewPCG(1, uint64(bits)))
			s := &Sample{}
			for range n {
				s.Add(1000 + r.Int64N(1<<bits))
			}
			b.Run(fmt.Sprintf("range=2^%d/calls=%d", bits, n), func(b *testing.B) {
				for b.Loop() {
					Fit(s, Options{Window: 1})
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/call")
			})
		}
	}
}
