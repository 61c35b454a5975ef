package formulae

import (
	"math"
	"slices"
	"testing"
)

// A law fits what it was made from: the mean of equal durations is no law, a sample of two
// values is given by its quantiles.
func TestLawOf(t *testing.T) {
	if _, ok := lawOf(slices.Repeat([]int64{7}, 100)); ok {
		t.Error("durations that are all the same have a law")
	}
	l, ok := lawOf(append(slices.Repeat([]int64{10}, 60), slices.Repeat([]int64{1000}, 60)...))
	total := uint64(0)
	for _, more := range l.Quantiles {
		total += more
	}
	if !ok || l.Quantiles[0] != 10 || total != 1000 {
		t.Errorf("two values: %v", l)
	}
}

// A sample of what comes one by one is one of the whole: its mean is that of all within six
// standard errors.
func TestReservoir(t *testing.T) {
	t.Parallel()
	const n = 100 * sampleSize
	s := &intervals{}
	for d := range uint64(n) {
		s.count++
		s.keep(d)
	}
	values := s.sample.values
	slices.Sort(values)
	sum := int64(0)
	for i, v := range values {
		if sum += v; v < 0 || v >= n || i > 0 && v == values[i-1] {
			t.Fatalf("the sample %v is none of different values below %d", values, n)
		}
	}
	mean := float64(sum) / sampleSize
	if deviation := n / math.Sqrt(12*sampleSize); len(values) != sampleSize || math.Abs(mean-n/2) > 6*deviation {
		t.Errorf("the mean of %d values is %v, want %v ± %v", len(values), mean, n/2, deviation)
	}
}
