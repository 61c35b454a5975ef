package numbers

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// TestLargest states that what is kept is the end of the sorted list.
func TestLargest(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for n := range 60 {
		most := r.IntN(20)
		l := Largest[int]{Most: most, Less: func(a, b *int) bool { return *a < *b }}
		var all []int
		for range n {
			x := r.IntN(30)
			all = append(all, x)
			l.Offer(x)
		}
		slices.Sort(all)
		slices.Sort(l.Kept)
		if want := all[max(n-most, 0):]; !slices.Equal(l.Kept, want) {
			t.Errorf("of %d numbers %v are kept, want %v", n, l.Kept, want)
		}
	}
}
