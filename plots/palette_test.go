package plots

import (
	"image/color"
	"math"
	"testing"
)

// A matrix maps linear red, green, blue to what a kind of color vision
// makes of them (Machado, Oliveira, Fernandes 2009, severity 1).
type matrix [3][3]float64

func visions() map[string]matrix {
	return map[string]matrix{
		"normal":       {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}},
		"protanopia":   {{0.152286, 1.052583, -0.204868}, {0.114503, 0.786281, 0.099216}, {-0.003882, -0.048116, 1.051998}},
		"deuteranopia": {{0.367322, 0.860646, -0.227968}, {0.280085, 0.672501, 0.047413}, {-0.011820, 0.042940, 0.968881}},
	}
}

func linear(v uint8) float64 {
	x := float64(v) / 255
	if x <= 0.04045 {
		return x / 12.92
	}
	return math.Pow((x+0.055)/1.055, 2.4)
}

// lab returns CIE L*a*b* (D65) of a color as seen through a vision.
func lab(c color.RGBA, m matrix) [3]float64 {
	in := [3]float64{linear(c.R), linear(c.G), linear(c.B)}
	var rgb [3]float64
	for i := range rgb {
		for j := range in {
			rgb[i] += m[i][j] * in[j]
		}
		rgb[i] = min(max(rgb[i], 0), 1)
	}
	f := func(t float64) float64 {
		if t > 216.0/24389 {
			return math.Cbrt(t)
		}
		return (24389.0/27*t + 16) / 116
	}
	x := f((0.4124*rgb[0] + 0.3576*rgb[1] + 0.1805*rgb[2]) / 0.9505)
	y := f(0.2126*rgb[0] + 0.7152*rgb[1] + 0.0722*rgb[2])
	z := f((0.0193*rgb[0] + 0.1192*rgb[1] + 0.9505*rgb[2]) / 1.089)
	return [3]float64{116*y - 16, 500 * (x - y), 200 * (y - z)}
}

// TestSequentialFalls checks that the scale of colors gets darker all the way.
func TestSequentialFalls(t *testing.T) {
	for name, m := range visions() {
		last := math.Inf(1)
		for i := range 101 {
			l := lab(sequential(float64(i)/100), m)[0]
			if l >= last {
				t.Errorf("%s: lightness rises to %.1f at %d %%", name, l, i)
			}
			last = l
		}
	}
}

// TestPaints: a category has its own color, or that of its index, whatever its weight.
func TestPaints(t *testing.T) {
	own := color.RGBA{1, 2, 3, 255}
	got := paints([]Category{{Name: "b"}, {Name: "own", Color: own}, {Name: "a"}})
	if got[0] != series(0) || got[1] != own || got[2] != series(2) {
		t.Errorf("got %v", got)
	}
}
