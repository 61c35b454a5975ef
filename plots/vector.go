package plots

import (
	"image/color"
	"math"
	"strings"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// segments draws the bars' segments one by one, then names where they fit.
// What is narrower than half a pixel is left to the raster below.
func (p *pane) segments(paints []color.RGBA) {
	veiled := p.t.veiled()
	for _, s := range p.t.segments {
		if a, b := p.block(s); b.X-a.X >= px(0.5) {
			p.segment(s, a, b, paints, veiled(s))
		}
	}
	for _, s := range p.t.segments {
		if a, b := p.block(s); s.slot < len(paints) && a.Y-b.Y >= px(13) && b.X-a.X >= px(32) {
			p.name(p.t.opts.Categories[s.slot].Name, !isDark(paints[s.slot]), a, b)
		}
	}
}

// veiled returns a function that tells the segments that are reconstructed and have
// hardly any gray ground beside them.
func (t *Timeline) veiled() func(segment) bool {
	gray := t.greyCells()
	if gray == nil || t.layout.spacious() {
		return func(segment) bool { return false }
	}
	return func(s segment) bool { return gray[t.RowOf(s.rank)*t.columns()+t.columnOf(s.start)] }
}

// block returns the corners of a segment's block: top left, bottom right.
func (p *pane) block(s segment) (a, b vg.Point) {
	l := p.t.layout
	y0, y1 := l.bar(p.t.RowOf(s.rank))
	at := func(t int64, y int) vg.Point {
		return p.at(float64(l.left)+p.t.fraction(t)*float64(l.width), float64(l.top+y))
	}
	return at(s.start, y0), at(s.end, y1)
}

// segment fills one block, with a fine edge where bars stand apart: without it
// equal neighbours, such as one call after another, would merge.
func (p *pane) segment(s segment, a, b vg.Point, paints []color.RGBA, veiled bool) {
	col := opaque(p.t.opts.Wait, waitInk)
	if s.slot < len(paints) {
		col = paints[s.slot]
	}
	if veiled {
		col = mix(col, greyGround, veilDepth)
	}
	fillRect(p.Canvas, col, a.X, a.Y, b.X, b.Y)
	if p.t.layout.separate() {
		edgeLine := draw.LineStyle{Color: veil(ink, 0.35), Width: px(0.6)}
		strokeRect(p.Canvas, edgeLine, a.X, a.Y, b.X, b.Y)
	}
}

// name writes a category's name into its block, if enough of it fits to tell
// the category by.
func (p *pane) name(name string, dark bool, a, b vg.Point) {
	style := aligned(textStyle(sizeNote, white), draw.XCenter, draw.YCenter)
	if dark {
		style.Color = ink
	}
	text := shorten(brief(name), style, b.X-a.X-px(8))
	if !strings.Contains(text, "…") || len([]rune(text)) >= 7 {
		p.FillText(style, vg.Point{X: (a.X + b.X) / 2, Y: (a.Y + b.Y) / 2}, text)
	}
}

// messages draws a line for each message, from the sender's bar to the
// receiver's, with a head where there are few enough to see one.
func (p *pane) messages() {
	lines := p.t.messages.lines
	style := draw.LineStyle{Color: veil(messageInk, lineDepth(len(lines))), Width: px(1)}
	for _, m := range lines {
		a, b, whole := p.messageLine(m)
		p.StrokeLine2(style, a.X, a.Y, b.X, b.Y)
		if whole && len(lines) <= 400 {
			p.arrow(a, b)
		}
	}
}

// lineDepth makes lines fainter the more there are.
func lineDepth(n int) float64 {
	switch {
	case n <= 300:
		return 0.85
	case n <= 1000:
		return 0.6
	}
	return 0.4
}

// messageLine returns the ends of a message's line, cut to the diagram, and
// whether the receiver's end is inside.
func (p *pane) messageLine(m Message) (a, b vg.Point, whole bool) {
	l := p.t.layout
	fy, ty := p.facing(m.From, m.To), p.facing(m.To, m.From)
	x1 := p.t.fraction(m.Done)
	cx0, cy0, cx1, cy1, _ := clipUnit(p.t.fraction(m.Sent), fy, x1, ty)
	at := func(x, y float64) vg.Point {
		return p.at(float64(l.left)+x*float64(l.width), float64(l.top)+y)
	}
	return at(cx0, cy0), at(cx1, cy1), cx1 == x1
}

// facing returns the height of the edge of a rank's bar that faces another
// rank; bars too thin for that are met in the middle.
func (p *pane) facing(rank, other int) float64 {
	y0, y1 := p.t.layout.bar(p.t.RowOf(rank))
	switch {
	case y1-y0 < 6:
		return float64(y0+y1) / 2
	case other > rank:
		return float64(y1)
	case other < rank:
		return float64(y0)
	}
	return float64(y1) - 1
}

// arrow draws the head of a line from a to b.
func (p *pane) arrow(a, b vg.Point) {
	dx, dy := float64(b.X-a.X), float64(b.Y-a.Y)
	long := math.Hypot(dx, dy)
	if long < float64(px(10)) {
		return
	}
	ux, uy := vg.Length(dx/long), vg.Length(dy/long)
	n, w := px(7), px(2.4)
	p.FillPolygon(messageInk, []vg.Point{b,
		{X: b.X - n*ux - w*uy, Y: b.Y - n*uy + w*ux},
		{X: b.X - n*ux + w*uy, Y: b.Y - n*uy - w*ux},
	})
}

// collectives draws each as the lines that join its members' begins and
// ends, or, when they are too many, as ticks above the bars.
func (p *pane) collectives() {
	if p.t.collectives.dense() {
		p.collectiveTicks()
		return
	}
	a, b := p.area()
	inside := draw.Canvas{Canvas: p.Canvas.Canvas, Rectangle: rect(a.X, a.Y, b.X, b.Y)}
	style := draw.LineStyle{Color: veil(opaque(p.t.opts.Collective, collectiveInk), lineDepth(10*len(p.t.collectives.list))), Width: px(1.2)}
	for _, c := range p.t.collectives.list {
		begins, ends := p.outline(c.Ranks, c.Begin), p.outline(c.Ranks, c.End)
		p.StrokeLines(style, inside.ClipLinesXY(begins, ends)...)
	}
}

// outline returns a point in the middle of each member's bar.
func (p *pane) outline(ranks []int, times []int64) []vg.Point {
	l := p.t.layout
	out := make([]vg.Point, len(ranks))
	for i, r := range ranks {
		// Far outside is as good as at infinity, and safe to clip.
		x := min(max(p.t.fraction(times[i]), -1), 2)
		out[i] = p.at(float64(l.left)+x*float64(l.width), float64(l.top)+p.t.places[r].middle)
	}
	return out
}

// collectiveTicks marks the columns in which collectives ended, the deeper
// the more of them.
func (p *pane) collectiveTicks() {
	l, ends := p.t.layout, p.t.collectives.ends
	var most uint32
	for _, n := range ends {
		most = max(most, n)
	}
	step := float64(l.width) / float64(len(ends))
	for c := 0; c < len(ends); {
		n, from := ends[c], c
		for c < len(ends) && ends[c] == n {
			c++
		}
		if n == 0 {
			continue
		}
		depth := 0.25 + 0.75*math.Log1p(float64(n))/math.Log1p(float64(most))
		a := p.at(float64(l.left)+float64(from)*step, float64(l.top-8))
		b := p.at(float64(l.left)+float64(c)*step, float64(l.top-2))
		fillRect(p.Canvas, mix(white, opaque(p.t.opts.Collective, collectiveInk), depth), a.X, a.Y, b.X, b.Y)
	}
}
