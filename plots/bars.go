package plots

import (
	"fmt"
	"image/color"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// BarsData is stacked bars in groups.
type BarsData struct {
	Title      string
	XLabel     string // what the groups are
	Y          Axis   // linear
	Categories []Category
	Groups     []BarGroup
	Note       string // such as which bar of a group is which

	Width, Height int // pixels; 0 is 960×540
}

// A BarGroup is bars beside each other.
type BarGroup struct {
	Name string
	Bars [][]float64 // for each bar, bottom up, the value of each category: ≥ 0
}

// Bars draws each bar as a stack of its values, in order of categories. Where groups stand
// closer than their names need, some names are left out.
func Bars(d BarsData) (*Figure, error) {
	c, err := newChart(d.Title, d.Width, d.Height)
	if err == nil {
		err = d.check()
	}
	if err != nil {
		return nil, fmt.Errorf("bars %q: %w", d.Title, err)
	}
	top, weight := 0.0, make([]int64, len(d.Categories))
	for _, g := range d.Groups {
		for _, bar := range g.Bars {
			top = max(top, sum(bar))
			if all := sum(bar); all > 0 {
				for k, v := range bar {
					weight[k] += int64(1e9 * v / all)
				}
			}
		}
	}
	if top == 0 {
		return c.empty("no values to draw"), nil
	}
	y := Axis{Label: d.Y.Label, Unit: d.Y.Unit}
	c.axes(Axis{Label: d.XLabel}, y, span{0, float64(len(d.Groups))}, span{0, top})
	c.X.Tick.Marker, c.X.Tick.Length = d.names(c.plotWidth()), 0
	paints := paints(d.Categories)
	c.Plot.Add(stacks{d.Groups, paints})
	for k := len(paints) - 1; k >= 0; k-- { // as the bars are stacked, top down
		if weight[k] > 0 {
			c.entry(solid(paints[k]), d.Categories[k].Name, "")
		}
	}
	c.note = d.Note
	return c.figure(), nil
}

// check refuses lengths that disagree, and values that are not finite or negative.
func (d BarsData) check() error {
	for _, g := range d.Groups {
		for _, bar := range g.Bars {
			if len(bar) != len(d.Categories) {
				return fmt.Errorf("group %s: %d values for %d categories", g.Name, len(bar), len(d.Categories))
			}
			if err := finite(bar); err != nil {
				return fmt.Errorf("group %s: %w", g.Name, err)
			}
			for _, v := range bar {
				if v < 0 {
					return errNegative
				}
			}
		}
	}
	return nil
}

// names places the names of groups in their middles, as many as fit a width.
func (d BarsData) names(width int) plot.ConstantTicks {
	longest := vg.Length(1)
	style := textStyle(sizeTick, ink)
	for _, g := range d.Groups {
		longest = max(longest, style.Width(g.Name)+px(8))
	}
	every := max(1, (len(d.Groups)*pixels(longest)+width-1)/width)
	var ticks plot.ConstantTicks
	for i, g := range d.Groups {
		if i%every == 0 {
			ticks = append(ticks, plot.Tick{Value: float64(i) + 0.5, Label: g.Name})
		}
	}
	return ticks
}

// stacks draws the bars of groups. Group i has the room from i to i+1.
type stacks struct {
	groups []BarGroup
	paints []color.RGBA
}

// Plot implements plot.Plotter.
func (s stacks) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	for i, g := range s.groups {
		const margin = 0.12 // at either side of a group
		for k, bar := range g.Bars {
			width := (1 - 2*margin) / float64(len(g.Bars))
			left, from := float64(i)+margin+float64(k)*width, 0.0
			for n, v := range bar {
				if v > 0 {
					fillRect(c, s.paints[n], x(left), y(from), x(left+0.94*width), y(from+v))
					from += v
				}
			}
			if from > 0 {
				strokeRect(c, draw.LineStyle{Color: faint, Width: px(0.6)}, x(left), y(0), x(left+0.94*width), y(from))
			}
		}
	}
}
