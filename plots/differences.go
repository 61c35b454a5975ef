package plots

import (
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// DifferencesData are the differences between two traces, record by record:
// of positions (when an event happens) and of blocks (how long until the
// next one), in nanoseconds.
type DifferencesData struct {
	Title    string
	Position Differences
	Block    Differences
	LogY     bool

	Width, Height int // pixels; 0 is 960×800
}

// Differences are one histogram of differences and its spread.
type Differences struct {
	Edges  []float64 // of the windows, ascending, around 0; one more than Counts
	Counts []float64 // in each window
	Beyond float64   // how many lie outside the edges
	Mean   float64
	Spread float64 // full width about the mean, as the comparison defines it; 0 is not drawn
}

// DifferenceHistograms draws both histograms one above the other, each with
// lines at its mean and at the mean plus and minus half its spread.
func DifferenceHistograms(d DifferencesData) (*Figure, error) {
	if d.Width == 0 {
		d.Width = chartWidth
	}
	if d.Height == 0 {
		d.Height = 800
	}
	half := d.Height / 2
	top, err := Histogram(d.Position.data(d, d.Title+": positions", "difference of position", half))
	if err != nil {
		return nil, err
	}
	bottom, err := Histogram(d.Block.data(d, d.Title+": blocks", "difference of block length", d.Height-half))
	if err != nil {
		return nil, err
	}
	return above(top, bottom), nil
}

// data describes one of the histograms to Histogram.
func (s Differences) data(d DifferencesData, title, what string, height int) HistogramData {
	h := HistogramData{
		Title: title, XLabel: what, Unit: Nanoseconds, LogY: d.LogY,
		Edges: s.Edges, Counts: s.Counts, Beyond: s.Beyond, Width: d.Width, Height: height,
		Marks: []Mark{{"mean", s.Mean}},
	}
	if s.Spread > 0 {
		h.Marks = append(h.Marks, Mark{"mean - spread/2", s.Mean - s.Spread/2}, Mark{"mean + spread/2", s.Mean + s.Spread/2})
	}
	if len(h.Edges) == 0 && len(h.Counts) == 0 {
		h.Edges = []float64{0} // no differences: an empty histogram, said in words
	}
	return h
}

// above puts one figure above another.
func above(top, bottom *Figure) *Figure {
	f := &Figure{width: max(top.width, bottom.width), height: top.height + bottom.height}
	f.draw = func(c draw.Canvas) {
		cut := c.Max.Y - px(top.height)
		fillRect(c, white, c.Min.X, c.Min.Y, c.Max.X, c.Max.Y)
		top.draw(draw.Canvas{Canvas: c.Canvas, Rectangle: vg.Rectangle{
			Min: vg.Point{X: c.Min.X, Y: cut}, Max: vg.Point{X: c.Min.X + px(top.width), Y: c.Max.Y}}})
		bottom.draw(draw.Canvas{Canvas: c.Canvas, Rectangle: vg.Rectangle{
			Min: vg.Point{X: c.Min.X, Y: cut - px(bottom.height)}, Max: vg.Point{X: c.Min.X + px(bottom.width), Y: cut}}})
	}
	return f
}
