package fit

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// sampleOf collects durations.
func sampleOf(durations ...int64) *Sample {
	s := &Sample{}
	for _, t := range durations {
		s.Add(t)
	}
	return s
}

func TestSampleIsExactBelowItsLimit(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	var all []int64
	s := &Sample{}
	for range 20000 {
		d := int64(r.ExpFloat64() * 5000)
		all = append(all, d)
		s.Add(d)
	}
	slices.Sort(all)
	if s.Error() != 0 || s.Min() != all[0] || s.Max() != all[len(all)-1] {
		t.Fatalf("error %d, min %d, max %d", s.Error(), s.Min(), s.Max())
	}
	for _, q := range []float64{0, 0.01, 0.5, 0.99, 1} {
		if got, want := s.Quantile(q), all[rank(q, 20000)-1]; got != want {
			t.Errorf("quantile %g = %d, want %d", q, got, want)
		}
	}
	calls, excess := s.Above(9000)
	var wantCalls int64
	for _, d := range all {
		if d > 9000 {
			wantCalls++
		}
	}
	if calls != wantCalls || excess != above(all, 9000) {
		t.Errorf("above 9000: %d calls, %d ns, want %d, %d", calls, excess, wantCalls, above(all, 9000))
	}
}

func TestSorted(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 1))
	var got, spare []int64
	for range 200 {
		durations := make([]int64, r.IntN(2000))
		bits := r.IntN(63)
		for j := range durations {
			durations[j] = r.Int64() >> bits
		}
		want := slices.Sorted(slices.Values(durations))
		if got, spare = sorted(durations, spare); !slices.Equal(got, want) {
			t.Fatalf("%d durations are out of order", len(got))
		}
	}
}

// Combining in any order and grouping gives the same sample to the last bit, also
// when some parts had to be coarsened and others not.
func TestCombineIsAssociative(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 1))
	for range 50 {
		part := func() *Sample {
			s := &Sample{Limit: 64}
			for range r.IntN(300) {
				s.Add(int64(r.ExpFloat64() * float64(int64(1)<<r.IntN(20))))
			}
			return s
		}
		copied := func(s *Sample) *Sample { c := *s; c.runs = slices.Clone(s.runs); return &c }
		a, b, c := part(), part(), part()
		for _, s := range []*Sample{a, b, c} {
			s.settle()
		}
		left, right := copied(a), copied(c)
		left.Combine(b)
		left.Combine(c)
		right.Combine(b)
		right.Combine(a)
		if !same(left, right) {
			t.Fatalf("(a+b)+c = %+v\nc+b+a = %+v", left, right)
		}
		taken, n := copied(b), a.Len()+b.Len()+c.Len()
		taken.Take(c)
		taken.Take(a)
		if taken.Len() != n || !same(left, taken) || taken.Len() != n {
			t.Fatalf("(a+b)+c = %+v\nb takes c and a: %+v", left, taken)
		}
	}
}

// same compares what samples hold, whatever they keep in reserve.
func same(a, b *Sample) bool {
	a.settle()
	b.settle()
	return a.shift == b.shift && a.n == b.n && a.sum == b.sum && a.min == b.min && a.max == b.max &&
		slices.Equal(a.runs, b.runs)
}

// Ten million calls fit into the limit, with exact sums and the stated error.
func TestTenMillionCalls(t *testing.T) {
	n := 10_000_000
	if testing.Short() || !*study {
		n = 1_000_000
	}
	r := rand.New(rand.NewPCG(4, 1))
	s := &Sample{Limit: n / 40}
	var sum int64
	exact := make([]int64, n)
	for j := range exact {
		exact[j] = 20000 + int64(1e6*r.ExpFloat64())
		sum += exact[j]
		s.Add(exact[j])
	}
	slices.Sort(exact)
	if s.Len() != int64(n) || s.Sum() != sum || s.Min() != exact[0] || s.Max() != exact[n-1] {
		t.Errorf("number, sum or extremes are not exact")
	}
	if len(s.runs) > s.Limit || s.Error() == 0 {
		t.Errorf("%d runs, error %d", len(s.runs), s.Error())
	}
	for _, q := range []float64{0.1, 0.5, 0.9, 0.99} {
		want := exact[rank(q, int64(n))-1]
		if got := s.Quantile(q); got > want || got < want-s.Error() {
			t.Errorf("quantile %g = %d, want %d within %d", q, got, want, s.Error())
		}
	}
	if res := Fit(s, Options{}); res.From != FromLaw || res.Models[res.Chosen].Family == "" {
		t.Errorf("no law accepted for an exponential sample of %d calls: %+v", n, res.From)
	}
}

func TestStepAndGCD(t *testing.T) {
	tests := []struct {
		durations []int64
		want      int64
	}{
		{nil, 0}, {[]int64{7}, 0}, {[]int64{7, 7}, 0}, {[]int64{1000, 4000, 7000}, 3000},
		{[]int64{3, 10, 17}, 7}, {[]int64{0, 12, 18}, 6},
	}
	for _, tt := range tests {
		if got := sampleOf(tt.durations...).step(); got != tt.want {
			t.Errorf("step of %v = %d, want %d", tt.durations, got, tt.want)
		}
	}
}

func BenchmarkSampleAdd(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 2))
	durations := make([]int64, 1<<16)
	for j := range durations {
		durations[j] = int64(r.ExpFloat64() * 1e6)
	}
	s := &Sample{}
	for j := 0; b.Loop(); j++ {
		s.Add(durations[j&(1<<16-1)])
	}
}
