package plots

import (
	"cmp"
	"image/color"
	"math"
	"slices"
)

// A Category is one color of a diagram: a region, a paradigm, a wait state.
type Category struct {
	Name  string
	Class string      // categories of one class are added up where the legend has no room for each; "" is a class, too
	Color color.Color // nil: that of the curve with the category's index
}

// Colors with a fixed meaning.
var (
	white         = hex(0xFFFFFF)
	ink           = hex(0x1A1A1A) // text, axes
	faint         = hex(0x6B6B6B) // notes
	rule          = hex(0xC9CCD1) // grid, borders
	ground        = hex(0xEEF0F3) // nothing recorded
	greyGround    = hex(0xBFC3C9) // reconstructed
	messageInk    = hex(0x111111)
	collectiveInk = hex(0x9B2E7E) // unless the caller has another
	waitInk       = hex(0xE89310) // the same
)

// series are the colors of curves, in order of use.
func series(i int) color.RGBA {
	c := hexes(0x0072B2, 0xD55E00, 0x009E73, 0xCC79A7, 0xE69F00, 0x56B4E9, 0x1B3A6B, 0x8E1B3A, 0x7B4FA3, 0x8C6D31)
	return c[i%len(c)]
}

// hex returns an opaque color written as 0xRRGGBB.
func hex(rgb uint32) color.RGBA {
	return color.RGBA{R: uint8(rgb >> 16), G: uint8(rgb >> 8), B: uint8(rgb), A: 255}
}

// hexes returns a list of such colors.
func hexes(rgb ...uint32) []color.RGBA {
	out := make([]color.RGBA, len(rgb))
	for i, v := range rgb {
		out[i] = hex(v)
	}
	return out
}

// mix returns a at share 0 and b at share 1.
func mix(a, b color.RGBA, share float64) color.RGBA {
	f := func(x, y uint8) uint8 { return uint8(math.Round(float64(x) + share*(float64(y)-float64(x)))) }
	return color.RGBA{R: f(a.R, b.R), G: f(a.G, b.G), B: f(a.B, b.B), A: 255}
}

// veil returns a color that covers what lies under it by the share alpha.
func veil(c color.RGBA, alpha float64) color.NRGBA {
	return color.NRGBA{R: c.R, G: c.G, B: c.B, A: uint8(math.Round(255 * alpha))}
}

// isDark tells whether white text reads better on c than black.
func isDark(c color.RGBA) bool {
	return 0.299*float64(c.R)+0.587*float64(c.G)+0.114*float64(c.B) < 140
}

// sequential maps 0…1 to a scale from pale yellow through orange and red to
// near black, whose lightness falls all the way.
func sequential(v float64) color.RGBA {
	stops := hexes(0xFFF6C8, 0xFDD17A, 0xF79A4B, 0xE0523E, 0xA6224F, 0x5E1654, 0x240B36)
	x := min(max(v, 0), 1) * float64(len(stops)-1)
	i := min(int(x), len(stops)-2)
	return mix(stops[i], stops[i+1], x-float64(i))
}

// opaque returns a color, or one instead of none.
func opaque(c color.Color, otherwise color.RGBA) color.RGBA {
	if c == nil {
		return otherwise
	}
	return color.RGBAModel.Convert(c).(color.RGBA)
}

// paints returns the colors of categories. They do not depend on what the diagram shows of them.
func paints(cats []Category) []color.RGBA {
	out := make([]color.RGBA, len(cats))
	for i, c := range cats {
		out[i] = opaque(c.Color, series(i))
	}
	return out
}

// byWeight returns the indices of categories, heaviest first, equal ones by name.
func byWeight(cats []Category, weight []int64) []int {
	order := make([]int, len(cats))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(weight[b], weight[a]), cmp.Compare(cats[a].Name, cats[b].Name))
	})
	return order
}
