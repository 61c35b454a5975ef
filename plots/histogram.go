package plots

import (
	"errors"
	"fmt"
	"strings"

	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// HistogramData is a histogram with the models that were fitted to it.
type HistogramData struct {
	Title  string
	XLabel string // what is counted, such as "time of a call"
	Unit   Unit   // of the edges and marks

	Edges  []float64 // of the windows, ascending; one more than Counts
	Counts []float64 // in each window, ≥ 0
	Beyond float64   // how many lie outside the edges: said in a note

	Models []Model
	Marks  []Mark // vertical lines, such as t_max
	Note   string // below the chart
	LogY   bool

	Width, Height int // pixels; 0 is 960×540
}

// A Model is a fitted law: what it expects in each window of the histogram.
type Model struct {
	Name     string
	Verdict  string    // shown beside the name, such as "p = 0.31"
	Expected []float64 // one for each count, ≥ 0
	Rejected bool      // drawn dashed
}

// Histogram draws bars for the counts, a curve for each model, a vertical
// line for each mark. Where windows are narrower than two pixels, neighbours
// are joined, counts and expectations alike, and a note says so.
func Histogram(d HistogramData) (*Figure, error) {
	c, err := newChart(d.Title, d.Width, d.Height)
	if err == nil {
		err = d.check()
	}
	if err != nil {
		return nil, fmt.Errorf("histogram %q: %w", d.Title, err)
	}
	if sum(d.Counts) == 0 {
		return c.empty("no values to count"), nil
	}
	join := 1 + 2*len(d.Counts)/c.plotWidth()
	d = d.joined(join)
	c.histogramAxes(d)
	c.addBars(d)
	for i, m := range d.Models {
		c.addModel(m, d, i)
	}
	c.marks(d.Marks, true, d.Unit)
	c.note = d.note(join)
	return c.figure(), nil
}

// check refuses lengths that disagree, edges out of order, and numbers that are
// not finite or, for counts, negative.
func (d HistogramData) check() error {
	if len(d.Edges) != len(d.Counts)+1 {
		return fmt.Errorf("%d edges for %d windows", len(d.Edges), len(d.Counts))
	}
	for i := range d.Counts {
		if !(d.Edges[i] < d.Edges[i+1]) {
			return fmt.Errorf("edge %d is not above the one before", i+1)
		}
	}
	lists := [][]float64{d.Edges, d.Counts, {d.Beyond}}
	for _, m := range d.Models {
		if len(m.Expected) != len(d.Counts) {
			return fmt.Errorf("model %s: %d expectations for %d windows", m.Name, len(m.Expected), len(d.Counts))
		}
		lists = append(lists, m.Expected)
	}
	for _, m := range d.Marks {
		lists = append(lists, []float64{m.Value})
	}
	if err := finite(lists...); err != nil {
		return err
	}
	for _, n := range d.Counts {
		if n < 0 {
			return errors.New("a count is negative")
		}
	}
	return nil
}

// joined returns the histogram with every n windows made one.
func (d HistogramData) joined(n int) HistogramData {
	if n <= 1 {
		return d
	}
	edges := d.Edges[:1:1]
	for i := n; i < len(d.Edges)-1+n; i += n {
		edges = append(edges, d.Edges[min(i, len(d.Edges)-1)])
	}
	d.Edges, d.Counts = edges, sums(d.Counts, n)
	models := make([]Model, len(d.Models))
	for i, m := range d.Models {
		m.Expected = sums(m.Expected, n)
		models[i] = m
	}
	d.Models = models
	return d
}

// sums adds every n neighbours.
func sums(v []float64, n int) []float64 {
	var out []float64
	for i := 0; i < len(v); i += n {
		out = append(out, sum(v[i:min(i+n, len(v))]))
	}
	return out
}

// sum adds from left to right: the same input gives the same bits.
func sum(v []float64) float64 {
	s := 0.0
	for _, x := range v {
		s += x
	}
	return s
}

// histogramAxes sets the axes. A logarithmic one of Y begins below the smallest
// count, so that a single call shows as a bar.
func (c *chart) histogramAxes(d HistogramData) {
	y := span{0, 0}
	low := 0.0
	for i, n := range d.Counts {
		y = y.with(n)
		if n > 0 && (low == 0 || n < low) {
			low = n
		}
		for _, m := range d.Models {
			y = y.with(m.Expected[i])
		}
	}
	y.hi *= 1.05
	if d.LogY {
		y = span{low / 2, y.hi * 1.3}
	}
	x := span{d.Edges[0], d.Edges[len(d.Edges)-1]}
	for _, m := range d.Marks {
		x = x.with(m.Value)
	}
	c.axes(Axis{Label: d.XLabel, Unit: d.Unit}, Axis{Label: "count", Log: d.LogY}, x, y)
}

// addBars draws the counts. Empty windows get no bar, since on a logarithmic
// axis there is no place for a count of 0.
func (c *chart) addBars(d HistogramData) {
	h := &plotter.Histogram{FillColor: mix(white, series(5), 0.75), LogY: d.LogY}
	if len(d.Counts) < c.plotWidth()/6 { // outlines need room
		h.LineStyle = draw.LineStyle{Color: mix(series(0), white, 0.3), Width: px(0.6)}
	}
	for i, n := range d.Counts {
		if n > 0 {
			h.Bins = append(h.Bins, plotter.HistogramBin{Min: d.Edges[i], Max: d.Edges[i+1], Weight: n})
		}
	}
	c.keepRange(func() { c.Plot.Add(h) })
	c.entry(solid(h.FillColor), "measured", Count.text(sum(d.Counts)))
}

// keepRange undoes what adding a plotter does to the axes.
func (c *chart) keepRange(add func()) {
	x0, x1, y0, y1 := c.X.Min, c.X.Max, c.Y.Min, c.Y.Max
	add()
	c.X.Min, c.X.Max, c.Y.Min, c.Y.Max = x0, x1, y0, y1
}

// addModel draws what a model expects, through the middles of the windows.
func (c *chart) addModel(m Model, d HistogramData, i int) {
	points := make(plotter.XYs, len(m.Expected))
	if n := len(points); n > 2 && d.Edges[n]-d.Edges[n-1] < 0.99*(d.Edges[n-1]-d.Edges[n-2]) {
		points = points[:n-1] // joined from fewer windows: not comparable
	}
	for k := range points {
		e := m.Expected[k]
		// Far below the axis is as good as 0 there, and has a logarithm.
		points[k] = plotter.XY{X: (d.Edges[k] + d.Edges[k+1]) / 2, Y: max(e, c.Y.Min/1e6)}
	}
	style := draw.LineStyle{Color: series(i + 1), Width: px(2)}
	if m.Rejected {
		style.Dashes = []vg.Length{px(3), px(3)}
		style.Width = px(1.4)
	}
	c.keepRange(func() { c.Plot.Add(&plotter.Line{XYs: points, LineStyle: style}) })
	c.entry(dashed(style), m.Name, m.Verdict)
}

// note says what the caller says, and in words what the bars do not show.
func (d HistogramData) note(join int) string {
	var notes []string
	if d.Note != "" {
		notes = append(notes, d.Note)
	}
	if join > 1 {
		notes = append(notes, fmt.Sprintf("Each bar joins %d windows.", join))
	}
	if d.Beyond > 0 {
		notes = append(notes, fmt.Sprintf("%s more lie outside the chart.", Count.text(d.Beyond)))
	}
	return strings.Join(notes, " ")
}
