package numbers

import (
	"math/rand/v2"
	"slices"
	"sort"
	"testing"
)

// TestSortRuns holds the result against a stable sort.
func TestSortRuns(t *testing.T) {
	type element struct{ key, order int }
	random := rand.New(rand.NewPCG(1, 2))
	for n := range 200 {
		list := make([]element, n)
		for i := range list {
			list[i] = element{random.IntN(1 + n/2), i}
			if i > 0 && random.IntN(4) > 0 { // mostly ascending
				list[i].key = max(list[i].key, list[i-1].key)
			}
		}
		want := slices.Clone(list)
		slices.SortStableFunc(want, func(a, b element) int { return a.key - b.key })
		if got := SortRuns(list, func(a, b *element) bool { return a.key < b.key }); !slices.Equal(got, want) {
			t.Fatalf("%v, want %v", got, want)
		}
	}
}

// TestSeek tries all places from all others.
func TestSeek(t *testing.T) {
	for _, list := range [][]int{{}, {1}, {1, 3}, {1, 1, 1}, {0, 2, 2, 4, 6, 8, 8, 10, 12, 14, 16, 18, 20, 22, 24}} {
		for near := range len(list) + 1 {
			for v := -1; v < 26; v++ {
				if got, want := Seek(list, near, func(x *int) bool { return *x < v }), sort.SearchInts(list, v); got != want {
					t.Errorf("%d in %v from %d: %d, want %d", v, list, near, got, want)
				}
			}
		}
	}
}
