package figure

import (
	"fmt"

	"tracekit/document/outcome"
	"tracekit/document/words"
	"tracekit/plots"
	"tracekit/stats/whatif"
)

// Curve draws the run time over the network: the curve of latency, or else that of bandwidth.
func Curve(doc *outcome.Whatif) (*plots.Figure, error) {
	name := words.TraceName(doc.Trace.Path)
	if c := doc.Latency; c != nil {
		return curve(c, "Run time by latency: "+name, plots.Axis{Label: "longer per message", Unit: plots.Nanoseconds})
	}
	return curve(doc.Bandwidth, "Run time by bandwidth: "+name, plots.Axis{Label: "longer per byte [ns]"})
}

func curve(c *whatif.Curve, title string, x plots.Axis) (*plots.Figure, error) {
	d := plots.CurvesData{Title: title, X: x, Y: plots.Axis{Label: "run time", Unit: plots.Nanoseconds}}
	line := plots.Series{Name: "run time"}
	for _, p := range c.Pieces {
		line.X, line.Y = append(line.X, p.From), append(line.Y, c.At(p.From))
	}
	line.X, line.Y = append(line.X, c.To), append(line.Y, c.At(c.To))
	d.Series = []plots.Series{line}
	for _, t := range c.Tolerance {
		if t.At != nil {
			d.Levels = append(d.Levels, plots.Mark{Name: fmt.Sprintf("%g %% longer", 100*t.Share), Value: c.At(*t.At)})
		}
	}
	return plots.Curves(d)
}
