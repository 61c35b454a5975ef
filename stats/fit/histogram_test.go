package fit

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// TestBars: every call lies in one bar or beyond, in that which At says, and the law that was
// fitted expects as many as there are below the cut.
func TestBars(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, most := range []int{1, 7, 48, 2000} {
		var s Sample
		var all []int64
		for i := range 3000 {
			d := int64(10_000 + 2_000*r.ExpFloat64())
			if i%50 == 0 {
				d *= 40
			}
			s.Add(d)
			all = append(all, d)
		}
		res := Fit(&s, Options{})
		b := res.Bars(res.TMax, most)
		if b.N < 1 || b.N > most || b.At(res.TMax) >= b.N {
			t.Fatalf("%d bars of at most %d, t_max in %d", b.N, most, b.At(res.TMax))
		}
		counts, beyond := res.Counts(b)
		for _, d := range all {
			if k := b.At(d); k < b.N {
				counts[k]--
			} else {
				beyond--
			}
		}
		for k, n := range append(counts, beyond) {
			if n != 0 {
				t.Errorf("bar %d of %d: At and Counts differ by %d", k, b.N, n)
			}
		}
		if res.Chosen < 0 {
			t.Fatal("no law was accepted")
		}
		sum := 0.0
		for _, e := range res.Expected(res.Chosen, res.Estimate, b) {
			sum += e
		}
		if want := float64(res.Calls - res.Tail); math.Abs(sum-want) > 0.02*want {
			t.Errorf("the law expects %.0f calls, %.0f are below the cut", sum, want)
		}
	}
}

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
