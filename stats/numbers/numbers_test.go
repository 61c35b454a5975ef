package numbers

import (
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"
)

func TestRate(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 10000 {
		resolution := 1 + r.Uint64N(1<<r.IntN(40))
		ticks := int64(r.Uint64() >> (1 + r.IntN(62)))
		want := new(big.Int).Mul(big.NewInt(ticks), big.NewInt(NsPerSecond))
		want.Quo(want, new(big.Int).SetUint64(resolution))
		if !want.IsInt64() {
			want.SetInt64(math.MaxInt64)
		}
		if got := (Rate{Resolution: resolution}).Ns(ticks); got != want.Int64() {
			t.Fatalf("%d ticks at %d Hz are %d ns, want %d", ticks, resolution, got, want)
		}
		if got := (Rate{Resolution: resolution}).Ns(-ticks); got != -want.Int64() {
			t.Fatalf("%d ticks at %d Hz are %d ns", -ticks, resolution, got)
		}
	}
}

func TestSplitterKeepsTheSum(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 1000 {
		s := Splitter{Rate: Rate{Resolution: 1 + r.Uint64N(5_000_000_000)}}
		var ticks, ns int64
		for range 20 {
			part := r.Int64N(1000)
			ticks += part
			ns += s.Ns(part)
		}
		if want := s.Rate.Ns(ticks); ns != want {
			t.Fatalf("parts sum to %d ns, the whole is %d", ns, want)
		}
	}
}

func TestBucketsJoin(t *testing.T) {
	end := int64(0)
	for o := range 64 - octaveBits {
		for b := range bucketsPerOctave {
			from, to := bucketBounds(o, b)
			if from != end {
				t.Fatalf("bucket %d of octave %d begins at %d, the one before ends at %d", b, o, from, end)
			}
			for _, v := range []int64{from, to - 1} {
				if gotO, gotB := bucketOf(v); gotO != o || gotB != b {
					t.Fatalf("%d is in bucket %d of octave %d, not %d of %d", v, gotB, gotO, b, o)
				}
			}
			if end = to; end < 0 {
				return // beyond the largest value
			}
		}
	}
}

// TestQuantiles compares with sorting, in the histogram as a whole and in two halves.
func TestQuantiles(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for n := 1; n < 3000; n = n*3/2 + 1 {
		var whole LogHistogram
		var halves [2]LogHistogram
		var values []int64
		for i := range n {
			v := int64(math.Exp(r.NormFloat64()*3 + 9))
			values = append(values, v)
			whole.add(v)
			halves[i%2].add(v)
		}
		slices.Sort(values)
		sum := AddBuckets(halves[0].Sparse(), halves[1].Sparse())
		if !slices.Equal(sum, whole.Sparse()) {
			t.Fatalf("%d values: halves do not add up", n)
		}
		for _, q := range []float64{0, 0.01, 0.5, 0.9, 0.99, 1} {
			exact := values[max(1, int(math.Ceil(q*float64(n))))-1]
			if got := whole.at(rankOf(q, whole.count)); math.Abs(float64(got-exact)) > 0.01*float64(exact) {
				t.Errorf("%d values: quantile %v is %d, want %d", n, q, got, exact)
			}
		}
	}
}
