package stragglers

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// TestFarStepsHideNoChange states that a change is found where it is although a few steps are far off on either side, and that these alone
// are none.
func TestFarStepsHideNoChange(t *testing.T) {
	const steps, at = 60, 30
	for _, by := range []float64{0.1, 0} {
		r := rand.New(rand.NewPCG(1, 1))
		v := make([]float64, steps)
		for i := range v {
			if v[i] = 0.01 * r.NormFloat64(); i >= at {
				v[i] += by
			}
		}
		for _, far := range []int{5, 22, 41} {
			v[far] += 5
		}
		place, odds := change(v)
		switch found := odds < sure; {
		case by > 0 && (!found || place != at):
			t.Errorf("a change at %d with odds %.2g, want one at %d", place, odds, at)
		case by == 0 && found:
			t.Errorf("a change at %d with odds %.2g, want none", place, odds)
		}
	}
}

// TestCut states that what is left of stretches is what no part covers.
func TestCut(t *testing.T) {
	list := []stretch{{from: 0, to: 10}, {from: 20, to: 30}, {from: 40, to: 50}}
	parts := []stretch{{from: 3, to: 5}, {from: 8, to: 22}, {from: 24, to: 25}, {from: 35, to: 60}}
	var got [][2]int64
	for _, s := range cut(list, parts) {
		got = append(got, [2]int64{s.from, s.to})
	}
	if want := [][2]int64{{0, 3}, {5, 8}, {22, 24}, {25, 30}}; !slices.Equal(got, want) {
		t.Errorf("%v are left, want %v", got, want)
	}
}
