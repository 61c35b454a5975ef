package plots

import (
	"image"
	"image/color"
	"math"
)

// raster paints the bars, one pixel at a time, as the package's
// documentation defines a pixel.
func (t *Timeline) raster(paints []paint) *image.RGBA {
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

// rasterRow paints one bar. Bars with ground around them get a fine dark edge,
// so that white inside a bar is not taken for ground.
func (t *Timeline) rasterRow(img *image.RGBA, row int, paints []paint, gray []bool) {
	y0, y1 := t.layout.bar(row)
	edged := t.layout.separate() && y1-y0 >= 8
	ranks := float64(t.rowLanes(row))
	for x := range t.layout.width {
		col := t.pixelColumn(x)
		c := &t.rows[row][col]
		if c.code+c.wait+c.blocked == 0 {
			continue
		}
		under := ground
		if gray != nil && gray[row*t.columns()+col] {
			under = greyGround
		}
		plain, striped := c.colors(ranks*float64(t.bounds[col+1]-t.bounds[col]), paints, under, under == greyGround && !t.layout.spacious())
		for y := y0; y < y1; y++ {
			p := plain
			if stripe(x, y) {
				p = striped
			}
			if edged && (y == y0 || y == y1-1) {
				p = mix(p, ink, 0.3)
			}
			img.SetRGBA(x, y, p)
		}
	}
}

// stripe tells whether a pixel lies on a stripe of the hatch.
func stripe(x, y int) bool { return mod(x-y, 6) < 2 }

// colors returns what a cell's pixels look like off and on a stripe of the
// hatch. The whole is the time that the cell's ranks have in its column. A
// reconstructed cell is veiled where hardly any gray ground shows beside it.
func (c *cell) colors(whole float64, paints []paint, under color.RGBA, veiled bool) (plain, striped color.RGBA) {
	code, wait, blocked := float64(c.code)/whole, float64(c.wait)/whole, float64(c.blocked)/whole
	body := white
	if c.code > 0 {
		body = paints[c.slot[0]].color
	}
	if veiled {
		body = mix(body, greyGround, veilDepth)
	}
	blend := func(hatch color.RGBA) color.RGBA {
		return average([]color.RGBA{body, white, hatch, under}, []float64{code, wait, blocked, max(0, 1-code-wait-blocked)})
	}
	return blend(white), blend(hatchInk)
}

// average mixes colors by shares that sum to 1. Shares count in sixteenths
// of a color's depth: the eye sees no more, and the PNG gets smaller.
func average(colors []color.RGBA, share []float64) color.RGBA {
	var r, g, b, sum float64
	for i, c := range colors {
		s := math.Round(16*share[i]) / 16
		r, g, b, sum = r+s*float64(c.R), g+s*float64(c.G), b+s*float64(c.B), sum+s
	}
	if sum == 0 {
		return colors[0]
	}
	return color.RGBA{uint8(r/sum + 0.5), uint8(g/sum + 0.5), uint8(b/sum + 0.5), 255}
}

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
