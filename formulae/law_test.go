package formulae

import (
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
	if !ok || l.quantiles[0] != 10 || l.quantiles[len(l.quantiles)-1] != 1000 || !slices.IsSorted(l.quantiles) {
		t.Errorf("two values: %v", l)
	}
}
