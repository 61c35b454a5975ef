package stragglers

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestSignedRanks states that the probability of a sum of signed ranks is the share of all choices of signs with one as large, with ties
// and without; and that a worker which is slower in nearly all of few steps is found to be, and in few of them much slower than in others.
func TestSignedRanks(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for i := range 40 {
		v, distances := make([]float64, 4+i%9), []float64(nil)
		for k := range v {
			v[k] = float64(1 + r.IntN(2+i)) // small ones are equal
			distances = append(distances, v[k])
			if k%4 == 3 {
				v[k] = -v[k]
			}
		}
		place := ranks(distances)
		sum := func(positive func(k int) bool) (s float64) {
			for k := range v {
				if positive(k) {
					s += place[k] + 0.5
				}
			}
			return s
		}
		all, want := sum(func(k int) bool { return v[k] > 0 }), 0.0
		for signs := range 1 << len(v) {
			if sum(func(k int) bool { return signs>>k&1 == 1 }) >= all {
				want += 1 / float64(int(1)<<len(v))
			}
		}
		if got := signedRanks(v, place); got < 0.02 && math.Abs(got-want) > 1e-12 {
			t.Errorf("%v: %v, want %v", v, got, want)
		}
	}
	v := []float64{0.19, 0.2, 0.21, 0.25, 0.18, 0.24, -0.08, 0.14, 0.07, 0.13, 0.17, 0.09, 0.3, 0.9, 1.9, 0.16}
	if odds := 4 * above(v); odds >= sure {
		t.Errorf("odds %v, want less than %v", odds, sure)
	}
}
