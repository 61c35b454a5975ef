package plots

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Figure returns the finished diagram; feed it no more from then on.
func (t *Timeline) Figure() *Figure {
	f, err := Stack(t)
	if err != nil {
		panic("plots: " + err.Error()) // one timeline always agrees with itself
	}
	return f
}

// Stack draws diagrams one above the other on one axis of time, as for a trace and its
// reconstruction. They must show the same range of time. Each keeps its own title, height and legend; the width is the
// first one's. Messages and collectives are drawn alike in all: one by one only if that can
// be done in each, densities on one scale.
func Stack(ts ...*Timeline) (*Figure, error) {
	if len(ts) == 0 {
		return nil, errors.New("stack of space-time diagrams: none given")
	}
	first, height := ts[0].opts, 0
	for _, t := range ts {
		if t.opts.From != first.From || t.opts.To != first.To {
			return nil, fmt.Errorf("stack of space-time diagrams: times %d to %d and %d to %d differ", first.From, first.To, t.opts.From, t.opts.To)
		}
		height += t.opts.Height
	}
	alike(ts)
	legends := commonLegends(ts)
	return &Figure{width: first.Width, height: height, titles: titles(ts), draw: func(c draw.Canvas) {
		fillRect(c, white, c.Min.X, c.Min.Y, c.Max.X, c.Max.Y)
		top := c.Max.Y
		for i, t := range ts {
			p := pane{Canvas: c, t: t, origin: vg.Point{X: c.Min.X, Y: top}}
			p.bars()
			p.axes()
			bottom := top - px(t.opts.Height)
			legends[i].draw(c, px(ts[0].layout.legend), px(first.Width-edge), top-px(t.layout.top), bottom)
			top = bottom
		}
	}}, nil
}

// alike settles how messages and collectives are drawn in all diagrams.
func alike(ts []*Timeline) {
	var messages, collectives bool
	var peak uint32
	for _, t := range ts {
		messages = messages || t.messages.dense()
		collectives = collectives || t.collectives.dense()
		peak = max(peak, t.messages.peak())
	}
	for _, t := range ts {
		t.messages.forced, t.messages.scale = messages && t.messages.blocks != nil, peak
		t.collectives.forced = collectives
	}
}

// A pane draws one timeline on a canvas; its coordinates are pixels from the
// diagram's top left corner.
type pane struct {
	draw.Canvas
	t      *Timeline
	origin vg.Point
}

// at converts pixels from the top left corner to a point of the canvas.
func (p *pane) at(x, y float64) vg.Point {
	return vg.Point{X: p.origin.X + px(x), Y: p.origin.Y - px(y)}
}

// area returns the corners of the bars' area: top left, bottom right.
func (p *pane) area() (vg.Point, vg.Point) {
	l := p.t.layout
	return p.at(float64(l.left), float64(l.top)), p.at(float64(l.left+l.width), float64(l.top+l.height))
}

// bars draws everything inside the axes.
func (p *pane) bars() {
	a, b := p.area()
	paints := paints(p.t.opts.Categories)
	p.DrawImage(rect(a.X, a.Y, b.X, b.Y), p.t.raster(paints))
	if !p.t.crowded {
		p.segments(paints)
	}
	p.collectives()
	if !p.t.messages.dense() {
		p.messages()
	}
}

// axes draws title, axes and the rule around the bars.
func (p *pane) axes() {
	a, b := p.area()
	strokeRect(p.Canvas, hairline(rule), a.X-px(0.5), a.Y+px(0.5), b.X+px(0.5), b.Y-px(0.5))
	if t := p.t.opts.Title; t != "" {
		room := px(p.t.opts.Width-edge) - (a.X - p.origin.X)
		style := bold(aligned(textStyle(sizeTitle, ink), draw.XLeft, draw.YTop))
		title := shorten(t, style, room)
		p.FillText(style, p.at(float64(p.t.layout.left), 10), title)
		p.subtitle(px(p.t.layout.left)+style.Width(title)+px(14), room-style.Width(title)-px(14))
	}
	p.timeAxis(a, b)
	p.rankAxis(a, b)
}

// subtitle writes what is shown behind the title, or as much of it as has room.
func (p *pane) subtitle(x, room vg.Length) {
	style := aligned(textStyle(sizeTick, faint), draw.XLeft, draw.YTop)
	if s := p.t.opts.Subtitle; s != "" && room > px(60) {
		p.FillText(style, vg.Point{X: p.origin.X + x, Y: p.origin.Y - px(13)}, shorten(s, style, room))
	}
}

// timeAxis draws the axis below the bars; a and b are the corners of their area.
func (p *pane) timeAxis(a, b vg.Point) {
	o := p.t.opts
	axis := newTimeAxis(o.From, o.To, max(2, p.t.layout.width/110))
	style := aligned(textStyle(sizeTick, ink), draw.XCenter, draw.YTop)
	for _, tick := range axis.ticks {
		x := a.X + vg.Length(p.t.fraction(tick))*(b.X-a.X)
		p.StrokeLine2(hairline(ink), x, b.Y, x, b.Y-px(5))
		p.FillText(style, vg.Point{X: x, Y: b.Y - px(7)}, axis.label(tick))
	}
	style = aligned(textStyle(sizeLabel, ink), draw.XCenter, draw.YTop)
	p.FillText(style, vg.Point{X: (a.X + b.X) / 2, Y: b.Y - px(26)}, axis.title())
}

// rankAxis labels the marked ranks, and as many others as have room, at steps of a power of two.
func (p *pane) rankAxis(a, b vg.Point) {
	l, ranks := p.t.layout, p.t.opts.Ranks
	style := aligned(textStyle(sizeTick, ink), draw.XRight, draw.YCenter)
	label := func(r int, style text.Style) {
		y := a.Y - px(p.t.places[r].middle)
		p.StrokeLine2(hairline(ink), a.X-px(4), y, a.X, y)
		p.FillText(style, vg.Point{X: a.X - px(7), Y: y}, shorten(ranks[r], style, px(l.left-30)))
	}
	for _, r := range p.t.opts.Marked {
		label(r, bold(style))
		y := a.Y - px(p.t.places[r].middle)
		p.FillPolygon(ink, []vg.Point{{X: a.X, Y: y}, {X: a.X - px(6), Y: y + px(4)}, {X: a.X - px(6), Y: y - px(4)}})
	}
	for r := 0; r < len(ranks); r += stride(len(ranks), l.height-l.restTop(), labelHeight) {
		near := func(m int) bool {
			return math.Abs(p.t.places[m].middle-p.t.places[r].middle) < labelHeight*0.75
		}
		if !slices.ContainsFunc(p.t.opts.Marked, near) {
			label(r, style)
		}
	}
	style = aligned(textStyle(sizeLabel, ink), draw.XCenter, draw.YTop)
	style.Rotation = quarterTurn
	p.FillText(style, vg.Point{X: p.origin.X + px(6), Y: (a.Y + b.Y) / 2}, p.t.opts.RankAxis)
}

const quarterTurn = 3.14159265358979 / 2
