package plots

import (
	"errors"
	"fmt"
	"image/color"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// An Axis says what the numbers along one side of a chart are.
type Axis struct {
	Label string
	Unit  Unit
	Log   bool // logarithmic: values that are not positive are left out, and counted in a note
}

// A Mark is a named line across a chart at one value.
type Mark struct {
	Name  string
	Value float64
}

// A chart is a plot with title, legend and note in the house style.
type chart struct {
	*plot.Plot
	title, note    string
	xLabel, yLabel string
	width, height  int
	entries        []legendEntry
}

// Default size of charts in pixels.
const (
	chartWidth  = 960
	chartHeight = 540
)

// newChart returns an empty chart; sizes of 0 mean the default.
func newChart(title string, width, height int) (*chart, error) {
	if width == 0 {
		width = chartWidth
	}
	if height == 0 {
		height = chartHeight
	}
	if err := checkSize(width, height); err != nil {
		return nil, err
	}
	c := &chart{Plot: plot.New(), title: title, width: width, height: height}
	for _, a := range []*plot.Axis{&c.X, &c.Y} {
		a.Padding = 0
		a.LineStyle = hairline(ink)
		a.Tick.LineStyle = hairline(ink)
		a.Tick.Length = px(5)
		a.Tick.Label.Font = textStyle(sizeTick, ink).Font
	}
	return c, nil
}

// axes sets ranges, scales, ticks and labels, and draws the grid. It widens
// ranges without extent, so that one value alone can be drawn.
func (c *chart) axes(x, y Axis, xr, yr span) {
	c.xLabel = axis(&c.X, x, xr, max(2, c.plotWidth()/70))
	c.yLabel = axis(&c.Y, y, yr, max(2, c.height/60))
	grid := plotter.NewGrid()
	grid.Horizontal = hairline(mix(white, rule, 0.6))
	grid.Vertical = grid.Horizontal
	c.Plot.Add(grid)
}

// axis prepares one axis and returns its label.
func axis(a *plot.Axis, spec Axis, r span, count int) string {
	a.Min, a.Max = r.lo, r.hi
	if spec.Log {
		a.Scale = plot.LogScale{}
		a.Tick.Marker = logTicks{spec.Unit, count}
		return spec.Label
	}
	ticks := linearTicks{scale: spec.Unit.scale(max(math.Abs(r.lo), math.Abs(r.hi))), count: count}
	if spec.Unit == Count || spec.Unit == Share { // "20k" and "20 %" need no bracket
		ticks.suffix = spec.Unit.behind(ticks.scale)
		ticks.scale.symbol = ""
	}
	a.Tick.Marker = ticks
	return label(spec.Label, ticks.scale)
}

// plotWidth is what the legend leaves of the width.
func (c *chart) plotWidth() int { return c.width - c.legendWidth() - 2*edge }

// legendWidth is a quarter of the figure, within what names need and what the
// data can spare.
func (c *chart) legendWidth() int { return min(max(c.width*26/100, 180), c.width*2/5, 270) }

// figure finishes the chart.
func (c *chart) figure() *Figure {
	return &Figure{width: c.width, height: c.height, draw: func(dc draw.Canvas) {
		fillRect(dc, white, dc.Min.X, dc.Min.Y, dc.Max.X, dc.Max.Y)
		drawTitle(dc, c.title)
		bottom := px(30)
		if c.note != "" {
			bottom = px(50)
			c.drawNote(dc)
		}
		legend := px(c.legendWidth())
		area := draw.Crop(dc, px(30), -legend-px(2*edge), bottom, -px(44))
		c.Plot.Draw(area)
		c.drawLabels(c.Plot.DataCanvas(area), dc.Min.X+px(8), area.Min.Y)
		drawEntries(dc, c.entries, dc.Max.X-legend, dc.Max.Y-px(48), dc.Max.X-px(edge))
	}}
}

// drawLabels names the axes of the data area: the vertical one at left, the
// horizontal one below bottom. (The plot's own labels are laid out as if all
// axes were linear, which wastes room on logarithmic ones.)
func (c *chart) drawLabels(data draw.Canvas, left, bottom vg.Length) {
	style := aligned(textStyle(sizeLabel, ink), draw.XCenter, draw.YTop)
	data.FillText(style, vg.Point{X: data.Center().X, Y: bottom - px(4)}, c.xLabel)
	style.Rotation = quarterTurn
	data.FillText(style, vg.Point{X: left, Y: data.Center().Y}, c.yLabel)
}

// drawNote writes the note at the very bottom, below the axis.
func (c *chart) drawNote(dc draw.Canvas) {
	style := aligned(textStyle(sizeNote, faint), draw.XLeft, draw.YBottom)
	dc.FillText(style, vg.Point{X: dc.Min.X + px(14), Y: dc.Min.Y + px(10)}, shorten(c.note, style, px(c.width-28)))
}

// drawTitle writes a figure's title at its top left.
func drawTitle(dc draw.Canvas, title string) {
	style := bold(aligned(textStyle(sizeTitle, ink), draw.XLeft, draw.YTop))
	width := dc.Max.X - dc.Min.X - px(28)
	dc.FillText(style, vg.Point{X: dc.Min.X + px(14), Y: dc.Max.Y - px(12)}, shorten(title, style, width))
}

// drawEntries lists legend entries from top down, as many as fit.
func drawEntries(dc draw.Canvas, entries []legendEntry, x, top, right vg.Length) {
	const line = 20
	fit := max(pixels(top-dc.Min.Y)/line-1, 1)
	if hidden := len(entries) - fit; hidden > 0 {
		last := legendEntry{func(draw.Canvas, vg.Rectangle) {}, fmt.Sprintf("and %d more", hidden+1), ""}
		entries = append(entries[:fit-1:fit-1], last)
	}
	for i, e := range entries {
		e.draw(dc, x, top-px(i*line), right)
	}
}

// entry adds a legend entry.
func (c *chart) entry(swatch func(draw.Canvas, vg.Rectangle), name, value string) {
	c.entries = append(c.entries, legendEntry{swatch, name, value})
}

// empty writes in words that there is nothing to draw.
func (c *chart) empty(what string) *Figure {
	return &Figure{width: c.width, height: c.height, draw: func(dc draw.Canvas) {
		fillRect(dc, white, dc.Min.X, dc.Min.Y, dc.Max.X, dc.Max.Y)
		drawTitle(dc, c.title)
		dc.FillText(aligned(textStyle(sizeLabel, faint), draw.XCenter, draw.YCenter), dc.Center(), what)
	}}
}

// A rule across a chart at one value of X or Y.
type ruleLine struct {
	value    float64
	vertical bool
	style    draw.LineStyle
}

// Plot draws the rule if it lies inside the chart.
func (r ruleLine) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	switch {
	case r.vertical && r.value >= p.X.Min && r.value <= p.X.Max:
		c.StrokeLine2(r.style, x(r.value), c.Min.Y, x(r.value), c.Max.Y)
	case !r.vertical && r.value >= p.Y.Min && r.value <= p.Y.Max:
		c.StrokeLine2(r.style, c.Min.X, y(r.value), c.Max.X, y(r.value))
	}
}

// marks draws named rules and lists them with their values.
func (c *chart) marks(marks []Mark, vertical bool, unit Unit) {
	for i, m := range marks {
		style := draw.LineStyle{Color: markInk(i), Width: px(1.6), Dashes: []vg.Length{px(6), px(3)}}
		c.Plot.Add(ruleLine{m.Value, vertical, style})
		c.entry(dashed(style), m.Name, unit.text(m.Value))
	}
}

// markInk returns the color of the i-th mark: dark ones, since marks lie on top
// of bars and curves.
func markInk(i int) color.RGBA {
	c := hexes(0x1A1A1A, 0x8E1B3A, 0x5E2CA5, 0x009E73)
	return c[i%len(c)]
}

// dashed is the swatch of a line style.
func dashed(s draw.LineStyle) func(draw.Canvas, vg.Rectangle) {
	return func(c draw.Canvas, r vg.Rectangle) {
		y := (r.Min.Y + r.Max.Y) / 2
		c.StrokeLine2(s, r.Min.X, y, r.Max.X, y)
	}
}

// A span is a range of numbers; the empty one is {+Inf, -Inf}.
type span struct{ lo, hi float64 }

// noSpan returns the empty span, to be grown by with.
func noSpan() span { return span{math.Inf(1), math.Inf(-1)} }

// with returns the span grown to hold v.
func (s span) with(v float64) span { return span{min(s.lo, v), max(s.hi, v)} }

// widened gives an axis some air above and below, by a share of its extent;
// a span without extent gets a tenth of its value, or 1 around 0.
func (s span) widened(share float64, log bool) span {
	if log {
		if s.lo == s.hi {
			return span{s.lo / 2, s.hi * 2}
		}
		f := math.Pow(s.hi/s.lo, share)
		return span{s.lo / f, s.hi * f}
	}
	d := (s.hi - s.lo) * share
	if s.lo == s.hi {
		d = max(math.Abs(s.lo)/10, 1)
		if s.lo == 0 {
			d = 1
		}
	}
	return span{s.lo - d, s.hi + d}
}

var (
	errNotFinite = errors.New("a number is NaN or infinite")
	errNegative  = errors.New("a value is negative")
)

// finite refuses NaN and infinities, which no axis can hold.
func finite(lists ...[]float64) error {
	for _, l := range lists {
		for _, v := range l {
			if math.IsNaN(v) || math.Abs(v) > 1e300 {
				return errNotFinite
			}
		}
	}
	return nil
}
