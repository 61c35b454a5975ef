package plots

import (
	"fmt"
	"math"

	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// CurvesData is a set of curves over one pair of axes.
type CurvesData struct {
	Title  string
	X, Y   Axis
	Series []Series
	Levels []Mark // horizontal lines

	Width, Height int // pixels; 0 is 960×540
}

// A Series is one curve through points in the order given.
type Series struct {
	Name      string
	X, Y      []float64 // of equal length
	Low, High []float64 // bounds of an interval around Y, or nil

	DotX, DotY []float64 // what was measured, beside a curve that is a model of it, or nil
}

// Curves draws each series as a line, with dots where the points are few and
// a band between its bounds, if it has any.
func Curves(d CurvesData) (*Figure, error) {
	c, err := newChart(d.Title, d.Width, d.Height)
	if err == nil {
		err = d.check()
	}
	if err != nil {
		return nil, fmt.Errorf("curves %q: %w", d.Title, err)
	}
	left := 0
	list := make([]Series, len(d.Series))
	for i, s := range d.Series {
		list[i] = s.drawable(d.X.Log, d.Y.Log)
		left += len(s.X) - len(list[i].X) + len(s.DotX) - len(list[i].DotX)
	}
	x, y := extent(list, d.Levels, d.Y.Log)
	if math.IsInf(x.lo, 1) {
		return c.empty("no points to draw"), nil
	}
	c.axes(d.X, d.Y, x.widened(0.02, d.X.Log), y.widened(0.05, d.Y.Log))
	for i, s := range list {
		c.keepRange(func() { c.addSeries(s, i) })
	}
	c.marks(d.Levels, false, d.Y.Unit)
	if left > 0 {
		c.note = fmt.Sprintf("%d points at 0 or below have no place on a logarithmic axis.", left)
	}
	return c.figure(), nil
}

// check refuses what cannot be drawn, naming the series it is in.
func (d CurvesData) check() error {
	for _, s := range d.Series {
		n := len(s.X)
		if len(s.Y) != n || len(s.DotX) != len(s.DotY) || len(s.Low) != len(s.High) || len(s.Low) != 0 && len(s.Low) != n {
			return fmt.Errorf("series %s: lengths differ", s.Name)
		}
		if err := finite(s.X, s.Y, s.Low, s.High, s.DotX, s.DotY); err != nil {
			return fmt.Errorf("series %s: %w", s.Name, err)
		}
	}
	for _, m := range d.Levels {
		if err := finite([]float64{m.Value}); err != nil {
			return fmt.Errorf("level %s: %w", m.Name, err)
		}
	}
	return nil
}

// drawable returns the points that have a place on the axes.
func (s Series) drawable(logX, logY bool) Series {
	out := Series{Name: s.Name}
	for i := range s.X {
		low := s.Y[i]
		if s.Low != nil {
			low = s.Low[i]
		}
		if logX && s.X[i] <= 0 || logY && min(s.Y[i], low) <= 0 {
			continue
		}
		out.X, out.Y = append(out.X, s.X[i]), append(out.Y, s.Y[i])
		if s.Low != nil {
			out.Low, out.High = append(out.Low, low), append(out.High, s.High[i])
		}
	}
	for i, x := range s.DotX {
		if (!logX || x > 0) && (!logY || s.DotY[i] > 0) {
			out.DotX, out.DotY = append(out.DotX, x), append(out.DotY, s.DotY[i])
		}
	}
	return out
}

// extent returns the ranges of everything that is drawn.
func extent(list []Series, levels []Mark, logY bool) (x, y span) {
	x, y = noSpan(), noSpan()
	for _, s := range list {
		for i := range s.X {
			x, y = x.with(s.X[i]), y.with(s.Y[i])
			if s.Low != nil {
				y = y.with(s.Low[i]).with(s.High[i])
			}
		}
		for i := range s.DotX {
			x, y = x.with(s.DotX[i]), y.with(s.DotY[i])
		}
	}
	for _, l := range levels {
		if !logY || l.Value > 0 {
			y = y.with(l.Value)
		}
	}
	return x, y
}

// manyPoints is the number from which a curve gets no dots.
const manyPoints = 60

// addSeries draws the i-th series: its band first, so that no band hides a
// curve of its own, then the line, then dots while they stay apart.
func (c *chart) addSeries(s Series, i int) {
	points := make(plotter.XYs, len(s.X))
	for k := range points {
		points[k] = plotter.XY{X: s.X[k], Y: s.Y[k]}
	}
	style := draw.LineStyle{Color: series(i), Width: px(1.8)}
	if i >= 10 { // the colors repeat: tell them apart by dashes
		style.Dashes = []vg.Length{px(5), px(2 + float64(i/10))}
	}
	if len(s.Low) > 1 {
		c.Plot.Add(&plotter.Polygon{XYs: []plotter.XYs{s.band()}, Color: veil(series(i), 0.18)})
	}
	c.Plot.Add(&plotter.Line{XYs: points, LineStyle: style})
	if len(s.DotX) > 0 {
		points = nil
		for i, x := range s.DotX {
			points = append(points, plotter.XY{X: x, Y: s.DotY[i]})
		}
	}
	if len(points) < manyPoints {
		dot := draw.GlyphStyle{Color: series(i), Radius: px(2.6), Shape: draw.CircleGlyph{}}
		c.Plot.Add(&plotter.Scatter{XYs: points, GlyphStyle: dot})
	}
	c.entry(dashed(style), s.Name, "")
}

// band is the outline of the area between the bounds.
func (s Series) band() plotter.XYs {
	var out plotter.XYs
	for k := range s.X {
		out = append(out, plotter.XY{X: s.X[k], Y: s.Low[k]})
	}
	for k := len(s.X) - 1; k >= 0; k-- {
		out = append(out, plotter.XY{X: s.X[k], Y: s.High[k]})
	}
	return out
}

// Stability draws the limit t_max of necessary time, in nanoseconds, against the number of calls that it was estimated from. There is a
// series for each key; both axes are logarithmic. Levels are the limits from all calls.
func Stability(title string, keys []Series, all []Mark) (*Figure, error) {
	return Curves(CurvesData{
		Title:  title,
		X:      Axis{Label: "calls in the sample", Log: true},
		Y:      Axis{Label: "t_max", Unit: Nanoseconds, Log: true},
		Series: keys, Levels: all,
	})
}

// Acceptance draws χ² of the best law, divided by the largest that is accepted, against the number of calls that it was fitted to. There is
// a series for each key; both axes are logarithmic.
func Acceptance(title string, keys []Series) (*Figure, error) {
	return Curves(CurvesData{
		Title:  title,
		X:      Axis{Label: "calls in the sample", Log: true},
		Y:      Axis{Label: "χ² / largest χ² that is accepted", Log: true},
		Series: keys, Levels: []Mark{{"accepted up to", 1}},
	})
}

// CallCosts draws the necessary time T_f, in nanoseconds, against bytes, a
// series for each operation, both axes logarithmic.
func CallCosts(title string, operations []Series) (*Figure, error) {
	return Curves(CurvesData{
		Title:  title,
		X:      Axis{Label: "bytes", Unit: Bytes, Log: true},
		Y:      Axis{Label: "necessary time of a call", Unit: Nanoseconds, Log: true},
		Series: operations,
	})
}
