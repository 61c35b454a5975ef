package plots

import (
	"cmp"
	"image"
	"image/color"
	"math"
	"slices"
)

// raster paints the bars, one pixel at a time, as the package's
// documentation defines a pixel.
func (t *Timeline) raster(paints []color.RGBA) *image.RGBA {
	img := image.NewRGBA(image.Rect(0, 0, t.layout.width, t.layout.height))
	fill(img, ground)
	gray := t.greyCells()
	for row := range t.rows {
		t.rasterGround(img, row, gray)
	}
	if t.messages.dense() {
		t.messages.shade(img) // behind the bars, whose colors mean something
	}
	for row := range t.rows {
		if t.rows[row] != nil {
			t.rasterRow(img, row, paints, gray)
		}
	}
	return img
}

// fill paints a whole image.
func fill(img *image.RGBA, c color.RGBA) {
	for i := 0; i < len(img.Pix); i += 4 {
		img.Pix[i], img.Pix[i+1], img.Pix[i+2], img.Pix[i+3] = c.R, c.G, c.B, 255
	}
}

// greyCells marks the cells that touch a stretch on gray ground; nil if none.
func (t *Timeline) greyCells() []bool {
	if len(t.gray) == 0 {
		return nil
	}
	marked := make([]bool, len(t.rows)*t.columns())
	for _, g := range t.gray {
		line := marked[t.RowOf(g.rank)*t.columns():]
		for c := t.columnOf(g.start); c <= t.columnOf(g.end-1); c++ {
			line[c] = true
		}
	}
	return marked
}

// rasterGround paints the gray ground of a row's whole band.
func (t *Timeline) rasterGround(img *image.RGBA, row int, gray []bool) {
	if gray == nil {
		return
	}
	y0, y1 := t.layout.band(row)
	for x := range t.layout.width {
		if gray[row*t.columns()+t.pixelColumn(x)] {
			for y := y0; y < y1; y++ {
				img.SetRGBA(x, y, greyGround)
			}
		}
	}
}

// pixelColumn returns the column that a pixel shows; they differ where the
// range of time has fewer nanoseconds than the diagram pixels.
func (t *Timeline) pixelColumn(x int) int { return x * t.columns() / t.layout.width }

// rasterRow paints one bar.
func (t *Timeline) rasterRow(img *image.RGBA, row int, paints []color.RGBA, gray []bool) {
	y0, y1 := t.layout.bar(row)
	wait := opaque(t.opts.Wait, waitInk)
	for x := range t.layout.width {
		col := t.pixelColumn(x)
		c := &t.rows[row][col]
		if c.code+c.wait == 0 {
			continue
		}
		whole := float64(t.inRow[row]) * float64(t.bounds[col+1]-t.bounds[col])
		parts := c.parts(paints, wait)
		veiled := gray != nil && gray[row*t.columns()+col] && !t.layout.spacious()
		for y := y0; y < y1; y++ {
			at := threshold(x, y, y0, y1) * whole
			for _, p := range parts {
				if at -= float64(p.ns); at < 0 {
					if veiled {
						p.color = mix(p.color, greyGround, veilDepth)
					}
					img.SetRGBA(x, y, p.color)
					break
				}
			}
		}
	}
}

// A part is time of a cell in one color.
type part struct {
	slot  int32
	ns    int64
	color color.RGBA
}

// parts returns what a cell shows: its heaviest categories in the order of their indices, so that neighbors look alike, with the time
// of all others in the heaviest one's, then waiting.
func (c *cell) parts(paints []color.RGBA, wait color.RGBA) [heaviest + 1]part {
	var out [heaviest + 1]part
	others := c.code
	for i, ns := range c.ns {
		if out[i] = (part{slot: c.slot[i], ns: ns}); ns > 0 {
			out[i].color = paints[c.slot[i]]
			others -= ns
		}
	}
	out[0].ns += others
	slices.SortFunc(out[:heaviest], func(a, b part) int { return cmp.Compare(a.slot, b.slot) })
	out[heaviest] = part{ns: c.wait, color: wait}
	return out
}

// threshold returns the share, 0 to 1, from which on a pixel belongs to what has that share of its column: in a high bar from bottom
// to top, in a thin one in the order of a halftone, whose pattern no structure of a trace looks like.
func threshold(x, y, y0, y1 int) float64 {
	if y1-y0 >= stackedBar {
		return (float64(y1-y) - 0.5) / float64(y1-y0)
	}
	return (float64(halftone[y%4][x%4]) + 0.5) / 16
}

// stackedBar is the height of bars from which shares are stacked.
const stackedBar = 6

// halftone is Bayer's matrix of order 4.
var halftone = [4][4]uint8{{0, 8, 2, 10}, {12, 4, 14, 6}, {3, 11, 1, 9}, {15, 7, 13, 5}}

// shade darkens the blocks that message lines cross, by the logarithm of
// their number.
func (m *messageLayer) shade(img *image.RGBA) {
	scale := math.Log1p(float64(m.scale))
	b := img.Bounds()
	for y := range b.Dy() {
		line := m.blocks[min(y/blockSize, m.height-1)*m.width:]
		for x := range b.Dx() {
			n := line[min(x/blockSize, m.width-1)]
			if n == 0 {
				continue
			}
			depth := shadeDepth(math.Log1p(float64(n)) / scale)
			img.SetRGBA(x, y, mix(img.RGBAAt(x, y), messageInk, depth))
		}
	}
}

// shadeDepth is how much ink a block gets, for a density between 0 and 1.
func shadeDepth(v float64) float64 { return 0.35 * v }

// veilDepth is how much gray a reconstructed bar gets where gray ground does not show.
const veilDepth = 0.25
