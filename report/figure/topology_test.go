package figure

import (
	"math"
	"testing"

	"tracekit/topology"
)

// TestPlanes: each place has a cell of its own, no gap is one of them, and gaps and cells are all there is.
func TestPlanes(t *testing.T) {
	for _, sizes := range [][]int{{5}, {3, 2}, {2, 3, 4}, {7, 2, 2}, {40, 1, 3}, {2, 3, 2, 2}, {1, 1, 1}} {
		p, err := newPlanes(sizes)
		if err != nil {
			t.Fatal(err)
		}
		ranks := 1
		for _, n := range sizes {
			ranks *= n
		}
		top, err := topology.Grid(sizes, ranks)
		if err != nil {
			t.Fatal(err)
		}
		taken := make(map[[2]int]bool)
		for r := range ranks {
			row, column := p.cell(top.Coordinates(uint32(r)))
			if row >= p.rows || column >= p.columns || p.gap(row, column) || taken[[2]int{row, column}] {
				t.Errorf("%v: rank %d has cell %d, %d", sizes, r, row, column)
			}
			taken[[2]int{row, column}] = true
		}
		cells := 0
		for row := range p.rows {
			for column := range p.columns {
				if !p.gap(row, column) {
					cells++
				}
			}
		}
		if cells != ranks {
			t.Errorf("%v: %d cells for %d ranks", sizes, cells, ranks)
		}
	}
	if _, err := newPlanes([]int{1 << 20, 1 << 20, 4}); err == nil {
		t.Error("2⁴² places are drawn")
	}
}

// TestPlaces: of ranks at one place the largest value shows; what is not known is drawn as that.
func TestPlaces(t *testing.T) {
	top, err := topology.Grid([]int{2, 2}, 4)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Places("run", "waits", top, []float64{0, 3e9, math.NaN(), 1e9}); err != nil {
		t.Error(err)
	}
}
