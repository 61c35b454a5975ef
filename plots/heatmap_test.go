package plots

import (
	"errors"
	"image/color"
	"math"
	"testing"
)

// zeros is a grid of a cell that is 0, one that is not, one that is not known.
type zeros struct{}

func (zeros) Dims() (rows, columns int)   { return 1, 3 }
func (zeros) Value(_, column int) float64 { return []float64{0, 1, math.NaN()}[column] }

// TestWholeHeatMapShowsZeros: where all cells are measured, one of 0 has the palest color and one that is not known is white.
func TestWholeHeatMapShowsZeros(t *testing.T) {
	h := &heat{HeatMapData: HeatMapData{Grid: zeros{}, Width: 400, Height: 300, Whole: true}, values: noSpan()}
	if err := errors.Join(h.layout(), h.collect()); err != nil {
		t.Fatal(err)
	}
	picture := h.raster()
	for column, want := range []color.Color{sequential(0), sequential(1), color.RGBAModel.Convert(white)} {
		if got := picture.At(column*h.width/3+2, 2); got != want {
			t.Errorf("cell %d is %v, want %v", column, got, want)
		}
	}
	if !h.unknown {
		t.Error("the note does not say that a cell is not known")
	}
}

// TestHeatMapOfNothing: where 0 is nothing, its cells are white, and a value that is not known is an error.
func TestHeatMapOfNothing(t *testing.T) {
	h := &heat{HeatMapData: HeatMapData{Grid: &sparseGrid{2, map[[2]int]float64{{0, 0}: 1}}, Width: 400, Height: 300}, values: noSpan()}
	if err := errors.Join(h.layout(), h.collect()); err != nil {
		t.Fatal(err)
	}
	if got := h.raster().At(h.width-3, 2); got != color.RGBAModel.Convert(white) {
		t.Errorf("a cell of 0 is %v, want white", got)
	}
	if _, err := HeatMap(HeatMapData{Grid: zeros{}}); err == nil {
		t.Error("a value that is not known is drawn")
	}
}
