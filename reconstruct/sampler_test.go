package reconstruct

import (
	"math/rand/v2"
	"slices"
	"testing"

	"tracekit/formulae"
)

// Every number below n is drawn once.
func TestShuffledIsAPermutation(t *testing.T) {
	for _, n := range []uint64{1, 2, 3, 50, 255, 256, 1000} {
		seen := make([]bool, n)
		for i := range n {
			at := shuffled(i, n, 7)
			if seen[at] {
				t.Fatalf("n = %d: %d twice", n, at)
			}
			seen[at] = true
		}
	}
}

// Draws add up to the visits times the mean, to the tick, and have the law's median.
func TestDrawsKeepTheSum(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 50 {
		quantiles := []uint64{1 + r.Uint64N(100)}
		for len(quantiles) < len(formulae.LawLevels()) {
			quantiles = append(quantiles, quantiles[len(quantiles)-1]+r.Uint64N(1<<r.IntN(12)))
		}
		visits := 50 + r.Uint64N(5000)
		mean := 1600 + r.Uint64N(1<<30)
		law := newDrawing(quantiles, mean, visits, r.Uint64())
		p := timing{means: []uint64{mean}, left: []uint8{0}, laws: []*drawing{law}}
		var sum uint64
		var all []uint64
		for range visits {
			d := uint64(p.next(0))
			sum += d
			all = append(all, d)
		}
		if want := mean * visits / formulae.MeanUnit; sum != want {
			t.Errorf("%d visits: sum %d, want %d", visits, sum, want)
		}
		slices.Sort(all)
		median, scale := float64(all[visits/2]), law.factor/formulae.MeanUnit
		if low, high := float64(quantiles[3])*scale, float64(quantiles[5])*scale; median < low-1 || median > high+1 {
			t.Errorf("median %.0f is not between %.0f and %.0f", median, low, high)
		}
	}
}
