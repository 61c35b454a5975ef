package plots

import (
	"cmp"
	"image/color"
	"math"
	"slices"
)

// A Group is a family of categories that share a range of colors.
type Group uint8

// The groups and their colors.
const (
	User    Group = iota // the program's own code: blues and greens
	MPI                  // message passing: reds and pinks
	Threads              // OpenMP, pthreads: yellows and oranges
	GPU                  // accelerators: violets
	IO                   // files: browns
	System               // measurement, operating system, unknown: greys
	groups
)

// A Category is one color of a diagram: a region, a paradigm, a wait state.
type Category struct {
	Name  string
	Group Group
	Color color.Color // nil: chosen by group and weight
}

// String names the group as a legend does.
func (g Group) String() string {
	switch g {
	case User:
		return "user code"
	case MPI:
		return "MPI"
	case Threads:
		return "threads"
	case GPU:
		return "GPU"
	case IO:
		return "I/O"
	}
	return "system"
}

// palette returns the group's colors, first the ones to use first, and the
// color that all further categories of the group share.
func (g Group) palette() (first []color.RGBA, rest color.RGBA) {
	switch g {
	case User:
		return hexes(0x0072B2, 0x56B4E9, 0x009E73, 0x1B3A6B, 0x7FCDBB, 0x4D8C57, 0x9EC5F0, 0x5B7FA6), hex(0xB9CBD6)
	case MPI:
		return hexes(0xD55E00, 0xCC79A7, 0x8E1B3A, 0xF2A488, 0xB2182B, 0x6E4B57), hex(0xC9B2B2)
	case Threads:
		return hexes(0xE69F00, 0xF0E442, 0xB8860B, 0xFBD38A), hex(0xE3D9B4)
	case GPU:
		return hexes(0x8850D0, 0xD8C4F0, 0x4A2470, 0x7B4FA3), hex(0xCFC6DA)
	case IO:
		return hexes(0x8C6D31, 0xC2A36B, 0x5C4413), hex(0xD3C7AE)
	}
	return hexes(0x666666, 0x999999, 0x333333), hex(0xB5B5B5)
}

// Colors with a fixed meaning.
var (
	white         = hex(0xFFFFFF)
	ink           = hex(0x1A1A1A) // text, axes
	faint         = hex(0x6B6B6B) // notes
	rule          = hex(0xC9CCD1) // grid, borders
	ground        = hex(0xEEF0F3) // nothing recorded
	greyGround    = hex(0xBFC3C9) // reconstructed
	hatchInk      = hex(0x5A5A5A) // unexplained blocking
	messageInk    = hex(0x111111)
	collectiveInk = hex(0x5E2CA5)
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

// paint is what the legend and the pixels need to know of one category.
type paint struct {
	color  color.RGBA
	shared bool // drawn in the color that its group's lighter members share
}

// assign gives colors to categories by their weight: the heaviest of a group
// gets the group's first color; ties go by name, then by index. Categories
// without weight come last. A category with a color of its own keeps it.
func assign(cats []Category, weight []int64) []paint {
	order := byWeight(cats, weight)
	out := make([]paint, len(cats))
	var used [groups]int
	for _, i := range order {
		if c := cats[i]; c.Color != nil {
			out[i].color = color.RGBAModel.Convert(c.Color).(color.RGBA)
			continue
		}
		g := min(cats[i].Group, System)
		first, rest := g.palette()
		if used[g] < len(first) {
			out[i].color = first[used[g]]
		} else {
			out[i] = paint{rest, true}
		}
		used[g]++
	}
	return out
}

// byWeight returns the indices of categories, heaviest first.
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
