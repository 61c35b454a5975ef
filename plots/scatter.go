package plots

import (
	"fmt"
	"image/color"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// ScatterData is sets of points over one pair of axes.
type ScatterData struct {
	Title  string
	X, Y   Axis
	Series []Series // without bounds; the first lie on top
	Note   string

	Width, Height int // pixels; 0 is 960×540
}

// Scatter draws each point as a dot. Points of a series that fall on one pixel are one dot,
// so that the size of a figure is bounded however many there are.
func Scatter(d ScatterData) (*Figure, error) {
	c, err := newChart(d.Title, d.Width, d.Height)
	if err == nil {
		err = CurvesData{Series: d.Series}.check()
	}
	if err != nil {
		return nil, fmt.Errorf("scatter %q: %w", d.Title, err)
	}
	left := 0
	list := make([]Series, len(d.Series))
	for i, s := range d.Series {
		list[i] = s.drawable(d.X.Log, d.Y.Log)
		left += len(s.X) - len(list[i].X)
	}
	x, y := extent(list, nil, d.Y.Log)
	if math.IsInf(x.lo, 1) {
		return c.empty("no points to draw"), nil
	}
	c.axes(d.X, d.Y, x.widened(0.01, d.X.Log), y.widened(0.04, d.Y.Log))
	for i, s := range list {
		c.entry(solid(series(i)), s.Name, "")
	}
	for i := len(list) - 1; i >= 0; i-- {
		c.Plot.Add(cloud{list[i], series(i)})
	}
	if c.note = d.Note; left > 0 {
		c.note += fmt.Sprintf(" %d points at 0 or below have no place on a logarithmic axis.", left)
	}
	return c.figure(), nil
}

// A cloud is the points of a series.
type cloud struct {
	points Series
	color  color.Color
}

// Plot fills one path with a square for each pixel that has a point.
func (c cloud) Plot(dc draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&dc)
	seen := make(map[[2]int]bool)
	var path vg.Path
	for k := range c.points.X {
		at := [2]int{pixels(x(c.points.X[k])), pixels(y(c.points.Y[k]))}
		if seen[at] {
			continue
		}
		seen[at] = true
		const half = 0.9
		left, right, low, high := px(float64(at[0])-half), px(float64(at[0])+half), px(float64(at[1])-half), px(float64(at[1])+half)
		path.Move(vg.Point{X: left, Y: low})
		for _, corner := range []vg.Point{{X: right, Y: low}, {X: right, Y: high}, {X: left, Y: high}} {
			path.Line(corner)
		}
		path.Close()
	}
	dc.SetColor(c.color)
	dc.Fill(path)
}
