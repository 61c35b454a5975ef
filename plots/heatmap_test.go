package plots

import (
	"image/color"
	"testing"
)

// zeros is a grid of which one cell is not 0.
type zeros struct{}

func (zeros) Dims() (rows, columns int) { return 2, 2 }
func (zeros) Value(row, column int) float64 {
	return float64(row * column)
}

// TestWholeHeatMapShowsZeros: cells of 0 are white, but where all cells are something they have the palest color.
func TestWholeHeatMapShowsZeros(t *testing.T) {
	for _, whole := range []bool{false, true} {
		h := &heat{HeatMapData: HeatMapData{Grid: zeros{}, Width: 400, Height: 300, Whole: whole}, values: noSpan()}
		if err := h.layout(); err != nil {
			t.Fatal(err)
		}
		if err := h.collect(); err != nil {
			t.Fatal(err)
		}
		want := color.RGBAModel.Convert(white)
		if whole {
			want = sequential(0)
		}
		if got := h.raster().At(2, 2); got != want {
			t.Errorf("whole %v: a cell of 0 is %v, want %v", whole, got, want)
		}
	}
}
