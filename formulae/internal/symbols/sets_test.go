package symbols

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// Sets of strides hold what they were made of and nothing else; rows, columns and the
// interior of a grid are one set each, whatever its size.
func TestStridedSets(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	check := func(name string, set []uint32, most int) {
		t.Helper()
		sets := stridedSets(set)
		if len(sets) > most {
			t.Errorf("%s: %d sets, want at most %d", name, len(sets), most)
		}
		for v := range uint64(5000) {
			if hasAny(sets, v) != slices.Contains(set, uint32(v)) {
				t.Fatalf("%s: %d is in %v, or is not in the sets", name, v, set)
			}
		}
	}
	for _, side := range []uint32{4, 9, 64} {
		var row, column, interior []uint32
		for y := range side {
			row, column = append(row, side+y), append(column, 2+y*side)
			for x := range side {
				if x > 0 && y > 0 && x < side-1 && y < side-1 {
					interior = append(interior, y*side+x)
				}
			}
		}
		check("row", row, 1)
		check("column", column, 1)
		check("interior", interior, 1)
	}
	for range 50 {
		var set []uint32
		for v := range uint32(200) {
			if r.IntN(3) == 0 {
				set = append(set, v)
			}
		}
		check("random", set, len(set))
	}
}
