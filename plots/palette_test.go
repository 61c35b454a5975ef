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

func distance(a, b [3]float64) float64 {
	return math.Sqrt((a[0]-b[0])*(a[0]-b[0]) + (a[1]-b[1])*(a[1]-b[1]) + (a[2]-b[2])*(a[2]-b[2]))
}

// TestPaletteDistinct checks that the colors a diagram uses first can be told
// apart, also by color-blind readers: a difference of 10 in CIE L*a*b* is
// plain at a glance.
func TestPaletteDistinct(t *testing.T) {
	var list []color.RGBA
	for g, n := range map[Group]int{User: 4, MPI: 4, Threads: 2, GPU: 2, IO: 1, System: 1} {
		first, _ := g.palette()
		list = append(list, first[:n]...)
	}
	list = append(list, white, ground)
	for name, m := range visions() {
		for i, a := range list {
			for _, b := range list[:i] {
				least := 10.0
				if a == ground && b == white { // bars have edges besides
					least = 4
				}
				if d := distance(lab(a, m), lab(b, m)); d < least {
					t.Errorf("%s: %02X and %02X are only %.1f apart", name, a, b, d)
				}
			}
		}
	}
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

// TestAssign gives colors by weight, not by order, and shares the last one.
func TestAssign(t *testing.T) {
	cats := make([]Category, 12)
	weight := make([]int64, 12)
	for i := range cats {
		cats[i].Name, weight[i] = string(rune('a'+i)), int64(i)
	}
	own := color.RGBA{1, 2, 3, 255}
	cats[0] = Category{Name: "own", Color: own}
	cats[11].Group = MPI
	user, rest := User.palette()
	mpi, _ := MPI.palette()
	got := assign(cats, weight)
	for i, want := range map[int]paint{
		0: {own, false}, 11: {mpi[0], false}, 10: {user[0], false}, 9: {user[1], false}, 1: {rest, true},
	} {
		if got[i] != want {
			t.Errorf("category %d: got %v, want %v", i, got[i], want)
		}
	}
}
