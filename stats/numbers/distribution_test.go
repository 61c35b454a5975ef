package numbers_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"tracekit/stats/numbers"
)

// TestDistribution holds quantiles against those of the sorted durations, also where these are below 0.
func TestDistribution(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 50 {
		var a, b, whole numbers.Distribution
		var all []int64
		var sum int64
		for i := range 1 + r.IntN(300) {
			v := int64(r.ExpFloat64()*1e6) - 400_000
			all, sum = append(all, v), sum+v
			[]*numbers.Distribution{&a, &b}[i%2].Add(v)
		}
		whole.Merge(&a)
		whole.Merge(&b)
		slices.Sort(all)
		if got, _ := whole.Sum(); got != sum || whole.Min() != all[0] || whole.Max() != all[len(all)-1] || whole.Count() != uint64(len(all)) {
			t.Fatalf("sum %d, %d durations from %d to %d; want sum %d, %d from %d to %d", got, whole.Count(), whole.Min(), whole.Max(), sum,
				len(all), all[0], all[len(all)-1])
		}
		for _, q := range []float64{0.01, 0.5, 0.9, 0.99, 1} {
			want := all[max(1, min(len(all), int(q*float64(len(all))+0.999999)))-1]
			got := whole.Quantile(q)
			if d := got - want; max(d, -d) > max(want, -want)/100+1 {
				t.Errorf("quantile %g of %d durations: got %d, want %d", q, len(all), got, want)
			}
		}
	}
	if zero := new(numbers.Distribution); zero.Quantile(0.5) != 0 || zero.Min() != 0 || zero.Max() != 0 {
		t.Error("an empty distribution has durations")
	}
}
