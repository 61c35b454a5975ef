package difference

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func distributionOf(values ...int64) *Distribution {
	d := &Distribution{}
	for _, v := range values {
		d.Add(v)
	}
	return d
}

// random returns n differences of all magnitudes.
func random(r *rand.Rand, n int) []int64 {
	out := make([]int64, n)
	for i := range out {
		out[i] = int64(r.Uint64()) >> r.IntN(64)
	}
	return out
}

var exactly = cmp.AllowUnexported(Distribution{})

// The order of adding and combining is no matter.
func TestCombineIsAssociative(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 100 {
		a, b, c := random(r, r.IntN(50)), random(r, r.IntN(50)), random(r, r.IntN(50))
		whole := distributionOf(append(append(append([]int64{}, c...), a...), b...)...)
		left, right, tail := distributionOf(a...), distributionOf(a...), distributionOf(b...)
		left.Combine(distributionOf(b...))
		left.Combine(distributionOf(c...))
		tail.Combine(distributionOf(c...))
		right.Combine(tail)
		if diff := cmp.Diff(left, right, exactly); diff != "" {
			t.Fatal("(a b) c and a (b c):", diff)
		}
		if diff := cmp.Diff(left, whole, exactly); diff != "" {
			t.Fatal("combined and added:", diff)
		}
	}
}

// The moments are those of the two-pass formulae in floating point, as far as those go.
func TestMoments(t *testing.T) {
	for _, values := range [][]int64{
		{}, {7}, {-3, 3}, {1, 2, 3, 4}, {-5, -5, -5},
		{1e15, 1e15 + 1, 1e15 + 2}, // σ² cancels in floating point
		{math.MaxInt64, math.MinInt64 + 1}, {math.MinInt64, math.MinInt64, math.MaxInt64},
	} {
		d := distributionOf(values...)
		n := max(float64(len(values)), 1)
		var mean, squares float64
		for _, v := range values {
			mean += float64(v) / n
		}
		for _, v := range values {
			squares += (float64(v) - mean) * (float64(v) - mean) / n
		}
		if near(d.Mean(), mean) && near(d.Sigma(), math.Sqrt(squares)) {
			continue
		}
		t.Errorf("%v: mean %g, σ %g, want %g and %g", values, d.Mean(), d.Sigma(), mean, math.Sqrt(squares))
	}
}

func near(a, b float64) bool { return math.Abs(a-b) <= 1e-12*max(math.Abs(a), math.Abs(b), 1) }

func TestSpreads(t *testing.T) {
	d := distributionOf(-1, 1) // σ = 1
	if !near(d.Spread(), 1.6651092223153954) || !near(d.FWHM(), 2.3548200450309493) {
		t.Errorf("2 √(ln 2) is %v, 2 √(2 ln 2) is %v", d.Spread(), d.FWHM())
	}
}

// Buckets follow one another without gaps, hold their differences, and are at most a
// sixteenth of their bound wide.
func TestBuckets(t *testing.T) {
	last := 0.5
	for place := 2; place <= placeOf(math.MaxInt64); place += 2 {
		low, high := boundsOf(place)
		if low != last || high-low > 1 && (high-low)*16 > high+1 {
			t.Errorf("bucket at %d: %g to %g after %g", place, low, high, last)
		}
		if l, h := boundsOf(place - 1); l != -high || h != -low {
			t.Errorf("bucket at %d: %g to %g is no mirror of %g to %g", place-1, l, h, low, high)
		}
		last = high
	}
	r := rand.New(rand.NewPCG(3, 4))
	for _, v := range append(random(r, 10_000), 0, 1, -1, 15, 16, -16, 31, 32, math.MaxInt64, math.MinInt64) {
		if low, high := boundsOf(placeOf(v)); float64(v) < low || float64(v) > high {
			t.Errorf("%d lies in the bucket from %g to %g", v, low, high)
		}
	}
}

func TestHistogram(t *testing.T) {
	d := distributionOf(-2, 0, 0, 1, 5, 200)
	edges, counts, beyond := d.Histogram(-2.5, 2.5, 5)
	if !cmp.Equal(edges, []float64{-2.5, -1.5, -0.5, 0.5, 1.5, 2.5}) || !cmp.Equal(counts, []float64{1, 0, 2, 1, 0}) || beyond != 2 {
		t.Errorf("got %v, %v, %v beyond", edges, counts, beyond)
	}
	// 200 lies in the bucket from 199.5 to 207.5 (200 to 207: 8 wide), evenly
	if _, counts, beyond = d.Histogram(191.5, 203.5, 3); !cmp.Equal(counts, []float64{0, 0, 0.5}) || beyond != 5.5 {
		t.Errorf("got %v, %v beyond", counts, beyond)
	}
}

// Nothing gets lost between windows and beyond.
func TestHistogramSums(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for range 200 {
		d := distributionOf(random(r, 1+r.IntN(100))...)
		from := float64(d.Min) / 2
		_, counts, beyond := d.Histogram(from, from+math.Exp(40*r.Float64()), 1+r.IntN(300))
		sum := beyond
		for _, c := range counts {
			sum += c
		}
		if math.Abs(sum-float64(d.N)) > 1e-6*float64(d.N) {
			t.Errorf("%g of %d are in windows or beyond", sum, d.N)
		}
	}
}
