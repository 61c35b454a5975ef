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

// rasterRow paints one bar: what happens in a column is stacked by its shares or, where the bar is too thin for that, averaged.
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
		if gray != nil && gray[row*t.columns()+col] && !t.layout.spacious() {
			for i := range parts {
				parts[i].color = mix(parts[i].color, greyGround, veilDepth)
			}
		}
		if y1-y0 >= stackedBar {
			stack(img, x, y0, y1, parts[:], whole)
			continue
		}
		under := img.RGBAAt(x, y0)
		mean := average(parts[:], whole, under)
		for y := y0; y < y1; y++ {
			if now := img.RGBAAt(x, y); now != under {
				under, mean = now, average(parts[:], whole, now)
			}
			img.SetRGBA(x, y, mean)
		}
	}
}

// stackedBar is the height of bars from which shares are stacked.
const stackedBar = 6

// stack paints the parts of a whole into the rows y0 to y1 of a column, the first at the bottom.
func stack(img *image.RGBA, x, y0, y1 int, parts []part, whole float64) {
	for y := y0; y < y1; y++ {
		at := (float64(y1-y) - 0.5) / float64(y1-y0) * whole
		for _, p := range parts {
			if at -= float64(p.ns); at < 0 {
				img.SetRGBA(x, y, p.color)
				break
			}
		}
	}
}

// average mixes the parts of a whole and, for what they leave, what lies under them. Shares count in sixteenths: the eye sees no more,
// and the PNG gets smaller.
func average(parts []part, whole float64, under color.RGBA) color.RGBA {
	var r, g, b, sum float64
	add := func(c color.RGBA, share float64) {
		s := math.Round(16 * share)
		r, g, b, sum = r+s*float64(c.R), g+s*float64(c.G), b+s*float64(c.B), sum+s
	}
	rest := whole
	for _, p := range parts {
		add(p.color, float64(p.ns)/whole)
		rest -= float64(p.ns)
	}
	add(under, max(0, rest)/whole)
	if sum == 0 { // many parts, all of them small
		return parts[0].color
	}
	return color.RGBA{uint8(r/sum + 0.5), uint8(g/sum + 0.5), uint8(b/sum + 0.5), 255}
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
