package plots

import (
	"fmt"
	"image"
	"math"
	"strings"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// A Grid is a table of values that are not negative; 0 means nothing, NaN that nothing is known.
type Grid interface {
	Dims() (rows, columns int)
	Value(row, column int) float64
}

// HeatMapData is a table drawn in colors.
type HeatMapData struct {
	Title       string
	Grid        Grid
	Rows        []string                   // labels from top to bottom, or nil for numbers
	Columns     []string                   // labels from left to right, or nil for numbers
	RowLabel    string                     // what the rows are, such as "source line"
	ColumnLabel string                     // what the columns are, such as "rank"
	ScaleLabel  string                     // what the values are, such as "overhead"
	Unit        Unit                       // of the values
	Log         bool                       // colors follow the logarithm of the values
	Whole       bool                       // cells of 0 are measured: they have the palest color, and what is not known a sign
	Gap         func(row, column int) bool // of a Whole table: it has no such cell; nil: it has all

	Width, Height int // pixels; 0 is 960 wide and a height that suits the rows
}

// HeatMap draws a table as colors between nothing (white) and its largest
// value, with a scale beside it. Where there are more cells than pixels a
// pixel shows the largest of its cells, so that nothing hot disappears, and a
// note says so.
func HeatMap(d HeatMapData) (*Figure, error) {
	if d.Grid == nil {
		return nil, fmt.Errorf("heat map %q: no grid", d.Title)
	}
	rows, _ := d.Grid.Dims()
	if d.Height == 0 {
		d.Height = min(max(150+22*rows, 220), 900)
	}
	return newHeat(d, "heat map")
}

// MatrixData is the communication between ranks.
type MatrixData struct {
	Title      string
	Ranks      int
	Entries    []MatrixEntry // in any order; entries of one pair are added
	ScaleLabel string        // what the values are, such as "bytes sent"
	Unit       Unit          // of the values

	Width, Height int // pixels; 0 is 900×800
}

// A MatrixEntry is what one rank sent to another.
type MatrixEntry struct {
	From, To int
	Value    float64
}

// CommMatrix draws a communication matrix, senders from top to bottom,
// receivers from left to right, on a logarithmic scale of colors. Memory
// grows with the entries, not with the square of the ranks.
func CommMatrix(d MatrixData) (*Figure, error) {
	g := &sparseGrid{ranks: d.Ranks, values: map[[2]int]float64{}}
	for _, e := range d.Entries {
		if uint(e.From) >= uint(d.Ranks) || uint(e.To) >= uint(d.Ranks) {
			return nil, fmt.Errorf("communication matrix %q: no ranks %d, %d among %d", d.Title, e.From, e.To, d.Ranks)
		}
		g.values[[2]int{e.From, e.To}] += e.Value
	}
	h := HeatMapData{
		Title: d.Title, Grid: g, RowLabel: "sender", ColumnLabel: "receiver",
		ScaleLabel: d.ScaleLabel, Unit: d.Unit, Log: true, Width: d.Width, Height: d.Height,
	}
	if h.Width == 0 {
		h.Width = 900
	}
	if h.Height == 0 {
		h.Height = 800
	}
	return newHeat(h, "communication matrix")
}

// A sparseGrid holds only the cells that have a value.
type sparseGrid struct {
	ranks  int
	values map[[2]int]float64
}

// Dims returns the number of ranks, twice.
func (g *sparseGrid) Dims() (rows, columns int) { return g.ranks, g.ranks }

// Value returns 0 for pairs that never communicated.
func (g *sparseGrid) Value(row, column int) float64 { return g.values[[2]int{row, column}] }

// eachCell visits the cells that may have a value; the order does not matter.
func eachCell(g Grid, visit func(row, column int, v float64)) {
	if s, ok := g.(*sparseGrid); ok {
		for at, v := range s.values {
			visit(at[0], at[1], v)
		}
		return
	}
	rows, columns := g.Dims()
	for r := range rows {
		for c := range columns {
			visit(r, c, g.Value(r, c))
		}
	}
}

// A heat is a heat map laid out in pixels.
type heat struct {
	HeatMapData
	rows, columns            int
	left, top, width, height int       // the cells' area
	shownRows, shownColumns  int       // cells drawn: no more than pixels
	cells                    []float64 // the largest value in each cell drawn; NaN: none is known
	values                   span      // of the values that are not 0
	unknown                  bool      // some cell is
}

// Room around the cells: above, below, and right for the scale.
const (
	heatTop    = 48
	heatBottom = 76
	heatRight  = 120
)

// newHeat lays out and reads the grid at once, so that a grid which changes
// later does not change the figure.
func newHeat(d HeatMapData, what string) (*Figure, error) {
	if d.Width == 0 {
		d.Width = chartWidth
	}
	h := &heat{HeatMapData: d, values: noSpan()}
	err := checkSize(d.Width, d.Height)
	if err == nil {
		err = h.layout()
	}
	if err == nil {
		err = h.collect()
	}
	if err != nil {
		return nil, fmt.Errorf("%s %q: %w", what, d.Title, err)
	}
	return &Figure{width: d.Width, height: d.Height, draw: h.draw}, nil
}

// layout divides the figure by the widths of the labels, and checks their number.
func (h *heat) layout() error {
	h.rows, h.columns = h.Grid.Dims()
	if h.Rows != nil && len(h.Rows) != h.rows || h.Columns != nil && len(h.Columns) != h.columns {
		return fmt.Errorf("%d and %d labels for %d rows and %d columns", len(h.Rows), len(h.Columns), h.rows, h.columns)
	}
	style, widest := textStyle(sizeTick, ink), 0
	for r := 0; r < h.rows; r += max(1, h.rows/2000) {
		widest = max(widest, pixels(style.Width(h.rowName(r))))
	}
	h.left = 40 + min(widest, h.Width*35/100)
	h.top = heatTop
	h.width, h.height = h.Width-h.left-heatRight, h.Height-heatTop-heatBottom
	h.shownRows, h.shownColumns = min(h.rows, h.height), min(h.columns, h.width)
	h.cells = make([]float64, h.shownRows*h.shownColumns)
	if h.Whole {
		for i := range h.cells {
			h.cells[i] = math.NaN()
		}
	}
	return nil
}

// rowName returns the label of a row: its number, if no labels were given.
func (h *heat) rowName(r int) string {
	if h.Rows == nil {
		return fmt.Sprint(r)
	}
	return oneLine(h.Rows[r])
}

// columnName returns the label of a column, as rowName does.
func (h *heat) columnName(c int) string {
	if h.Columns == nil {
		return fmt.Sprint(c)
	}
	return oneLine(h.Columns[c])
}

// collect takes the largest value into each cell that is drawn.
func (h *heat) collect() (err error) {
	eachCell(h.Grid, func(r, c int, v float64) {
		switch {
		case h.gap(r, c):
		case h.Whole && math.IsNaN(v):
			h.unknown = true
		case finite([]float64{v}) != nil:
			err = errNotFinite
		case v < 0:
			err = errNegative
		case v > 0 || h.Whole:
			if v > 0 {
				h.values = h.values.with(v)
			}
			if cell := &h.cells[r*h.shownRows/h.rows*h.shownColumns+c*h.shownColumns/h.columns]; !(*cell >= v) { // or it is NaN
				*cell = v
			}
		}
	})
	if !h.Log && h.values.hi > 0 {
		h.values.lo = 0
	}
	return err
}

// depth returns where a value lies on the scale of colors, 0 to 1.
func (h *heat) depth(v float64) float64 {
	lo, hi := h.values.lo, h.values.hi
	switch {
	case lo == hi:
		return 0.5
	case h.Log:
		return math.Log(v/lo) / math.Log(hi/lo)
	}
	return (v - lo) / (hi - lo)
}

// at converts pixels from the top left corner to a point of the canvas.
func (h *heat) at(c draw.Canvas, x, y float64) vg.Point {
	return vg.Point{X: c.Min.X + px(x), Y: c.Max.Y - px(y)}
}

// draw puts the parts together. The border lies half a pixel outside the cells,
// or it would cover the first and last row and column.
func (h *heat) draw(c draw.Canvas) {
	fillRect(c, white, c.Min.X, c.Min.Y, c.Max.X, c.Max.Y)
	drawTitle(c, h.Title)
	a := h.at(c, float64(h.left), float64(h.top))
	b := h.at(c, float64(h.left+h.width), float64(h.top+h.height))
	if h.values.hi > 0 || h.Whole {
		c.DrawImage(rect(a.X, a.Y, b.X, b.Y), h.raster())
		h.signs(c)
	}
	if h.values.hi > 0 {
		h.scale(c)
	} else if !h.Whole {
		c.FillText(aligned(textStyle(sizeLabel, faint), draw.XCenter, draw.YCenter),
			vg.Point{X: (a.X + b.X) / 2, Y: (a.Y + b.Y) / 2}, "nothing to show: all values are 0")
	}
	strokeRect(c, hairline(faint), a.X-px(0.5), a.Y+px(0.5), b.X+px(0.5), b.Y-px(0.5))
	h.rowAxis(c)
	h.columnAxis(c)
	h.note(c)
}

// raster paints the cells; those large enough stand apart by a white line.
func (h *heat) raster() *image.RGBA {
	img := image.NewRGBA(image.Rect(0, 0, h.width, h.height))
	fill(img, white)
	gapX, gapY := 0, 0
	if h.width/h.shownColumns >= 8 {
		gapX = 1
	}
	if h.height/h.shownRows >= 8 {
		gapY = 1
	}
	for r := range h.shownRows {
		y0, y1 := r*h.height/h.shownRows, (r+1)*h.height/h.shownRows-gapY
		for c := range h.shownColumns {
			v := h.cells[r*h.shownColumns+c]
			if v == 0 && !h.Whole || math.IsNaN(v) {
				continue
			}
			col := sequential(0)
			if v > 0 {
				col = sequential(h.depth(v))
			}
			for x := c * h.width / h.shownColumns; x < (c+1)*h.width/h.shownColumns-gapX; x++ {
				for y := y0; y < y1; y++ {
					img.SetRGBA(x, y, col)
				}
			}
		}
	}
	return img
}

// signs writes into the cells of which nothing is known that it is so, as tables do.
func (h *heat) signs(c draw.Canvas) {
	style := aligned(textStyle(sizeTick, faint), draw.XCenter, draw.YCenter)
	if h.width/h.shownColumns < leastSigned || h.height/h.shownRows < leastSigned {
		return
	}
	for i, v := range h.cells {
		if x, y := i%h.shownColumns, i/h.shownColumns; math.IsNaN(v) && !h.gap(y, x) {
			c.FillText(style, h.at(c, float64(h.left)+(float64(x)+0.5)*float64(h.width)/float64(h.shownColumns),
				float64(h.top)+(float64(y)+0.5)*float64(h.height)/float64(h.shownRows)), unknown)
		}
	}
}

func (h *heat) gap(row, column int) bool { return h.Gap != nil && h.Gap(row, column) }

// unknown is written where nothing is known, leastSigned how many pixels a cell must have for that.
const (
	unknown     = "-"
	leastSigned = 10
)

// scale draws the bar of colors with its ticks.
func (h *heat) scale(c draw.Canvas) {
	const width, steps = 14, 128
	x := h.left + h.width + 18
	height := min(h.height, 400)
	bar := image.NewRGBA(image.Rect(0, 0, 1, steps))
	for i := range steps {
		bar.SetRGBA(0, i, sequential(1-float64(i)/(steps-1)))
		if h.values.lo == h.values.hi {
			bar.SetRGBA(0, i, sequential(h.depth(h.values.lo))) // the only color there is
		}
	}
	a, b := h.at(c, float64(x), float64(h.top)), h.at(c, float64(x+width), float64(h.top+height))
	c.DrawImage(rect(a.X, a.Y, b.X, b.Y), bar)
	strokeRect(c, hairline(faint), a.X, a.Y, b.X, b.Y)
	style := aligned(textStyle(sizeTick, ink), draw.XLeft, draw.YCenter)
	for _, v := range h.scaleTicks(height) {
		y := b.Y + vg.Length(h.depth(v))*(a.Y-b.Y)
		c.StrokeLine2(hairline(ink), b.X, y, b.X+px(4), y)
		c.FillText(style, vg.Point{X: b.X + px(8), Y: y}, h.Unit.text(v))
	}
	style = aligned(textStyle(sizeTick, ink), draw.XRight, draw.YBottom)
	c.FillText(style, h.at(c, float64(h.Width-edge), float64(h.top-6)), shorten(h.ScaleLabel, style, px(heatRight+40)))
}

// scaleTicks returns the values that are labeled beside the scale: its ends, and between them what has room.
func (h *heat) scaleTicks(height int) []float64 {
	lo, hi := h.values.lo, h.values.hi
	if lo == hi {
		return []float64{lo}
	}
	var inner []float64
	if h.Log {
		for _, t := range (logTicks{h.Unit, height / 24}).Ticks(lo, hi) {
			if t.Label != "" {
				inner = append(inner, t.Value)
			}
		}
	} else {
		for _, t := range (linearTicks{scale: h.Unit.scale(hi), count: height / 40}).Ticks(lo, hi) {
			inner = append(inner, t.Value)
		}
	}
	out := []float64{lo}
	for _, v := range inner {
		if near := labelHeight / float64(height); h.depth(v) > near && h.depth(v) < 1-near {
			out = append(out, v)
		}
	}
	return append(out, hi)
}

// rowAxis labels as many rows as have room, at steps of a power of two.
func (h *heat) rowAxis(c draw.Canvas) {
	style := aligned(textStyle(sizeTick, ink), draw.XRight, draw.YCenter)
	for r := 0; r < h.rows; r += stride(h.rows, h.height, 18) {
		y := float64(h.top) + (float64(r)+0.5)*float64(h.height)/float64(h.rows)
		p := h.at(c, float64(h.left-5), y)
		c.StrokeLine2(hairline(ink), p.X, p.Y, p.X+px(5), p.Y)
		c.FillText(style, vg.Point{X: p.X - px(3), Y: p.Y}, shorten(h.rowName(r), style, px(h.left-36)))
	}
	style = aligned(textStyle(sizeLabel, ink), draw.XCenter, draw.YTop)
	style.Rotation = quarterTurn
	c.FillText(style, h.at(c, 8, float64(h.top)+float64(h.height)/2), h.RowLabel)
}

// columnAxis labels columns; their stride follows from the widest label.
func (h *heat) columnAxis(c draw.Canvas) {
	style := aligned(textStyle(sizeTick, ink), draw.XCenter, draw.YTop)
	widest := 0
	for i := 0; i < h.columns; i += max(1, h.columns/2000) {
		widest = max(widest, pixels(style.Width(h.columnName(i))))
	}
	y := float64(h.top + h.height)
	for i := 0; i < h.columns; i += stride(h.columns, h.width, min(widest, 100)+10) {
		x := float64(h.left) + (float64(i)+0.5)*float64(h.width)/float64(h.columns)
		p := h.at(c, x, y)
		c.StrokeLine2(hairline(ink), p.X, p.Y, p.X, p.Y-px(5))
		c.FillText(style, vg.Point{X: p.X, Y: p.Y - px(7)}, shorten(h.columnName(i), style, px(100)))
	}
	style = aligned(textStyle(sizeLabel, ink), draw.XCenter, draw.YTop)
	c.FillText(style, h.at(c, float64(h.left)+float64(h.width)/2, y+26), h.ColumnLabel)
}

// stride returns the power of two at which labels of n cells along length
// pixels stay room pixels apart.
func stride(n, length, room int) int {
	s := 1
	for s*length < room*n && s < n {
		s *= 2
	}
	return s
}

// note says what a pixel shows once it shows several cells, and what is not seen.
func (h *heat) note(c draw.Canvas) {
	var text []string
	if h.shownRows < h.rows || h.shownColumns < h.columns {
		text = append(text, fmt.Sprintf("A pixel shows the largest of up to %d×%d cells.",
			(h.rows+h.shownRows-1)/h.shownRows, (h.columns+h.shownColumns-1)/h.shownColumns))
	}
	if h.Whole && h.values.hi == 0 {
		text = append(text, "All known values are 0.")
	}
	if h.unknown {
		text = append(text, "White: not known.")
	}
	style := aligned(textStyle(sizeNote, faint), draw.XLeft, draw.YBottom)
	c.FillText(style, h.at(c, 14, float64(h.Height-8)), strings.Join(text, " "))
}
