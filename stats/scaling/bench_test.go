package scaling_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"tracekit/stats/scaling"
)

// BenchmarkFit fits values with noise, of which no form explains all.
func BenchmarkFit(b *testing.B) {
	for _, sizes := range []int{3, 5, 7, 10} {
		b.Run(fmt.Sprintf("sizes=%d", sizes), func(b *testing.B) {
			r := rand.New(rand.NewPCG(1, 2))
			var p, y []float64
			for k := range sizes {
				p = append(p, math.Pow(2, float64(k)))
				y = append(y, (100+3000/p[k]+10*p[k])*(1+0.05*r.NormFloat64()))
			}
			for b.Loop() {
				scaling.Fit(p, y, 1024)
			}
		})
	}
}
