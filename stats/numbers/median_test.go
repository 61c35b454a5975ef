package numbers

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// TestMedian states that the median is that of sorted values, for random ones, equal ones, and ones in order.
func TestMedian(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for n := range 300 {
		for _, of := range []func(i int) float64{func(int) float64 { return r.NormFloat64() }, func(int) float64 { return float64(r.IntN(3)) },
			func(i int) float64 { return float64(i) }, func(i int) float64 { return float64(-i) }, func(int) float64 { return 7 }} {
			v := make([]float64, n)
			for i := range v {
				v[i] = of(i)
			}
			sorted := slices.Sorted(slices.Values(v))
			want := 0.0
			if n > 0 {
				want = (sorted[(n-1)/2] + sorted[n/2]) / 2
			}
			if got := Median(v); got != want {
				t.Fatalf("the median of %d values is %v, want %v", n, got, want)
			}
			if slices.Sort(v); !slices.Equal(v, sorted) {
				t.Fatalf("the median of %d values has lost some", n)
			}
		}
	}
}
