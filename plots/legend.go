package plots

import (
	"fmt"
	"image/color"
	"strings"

	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// A timeLegend stands to the right of a space-time diagram, never on it.
type timeLegend struct {
	colors []legendEntry // categories with a color of their own, heaviest first
	marks  []legendEntry // shared colors, then everything else
	notes  []string
}

// A legendEntry explains one color or mark.
type legendEntry struct {
	swatch func(c draw.Canvas, r vg.Rectangle)
	name   string
	value  string
}

// solid is the swatch of a color.
func solid(col color.Color) func(draw.Canvas, vg.Rectangle) {
	return func(c draw.Canvas, r vg.Rectangle) {
		fillRect(c, col, r.Min.X, r.Min.Y, r.Max.X, r.Max.Y)
		strokeRect(c, draw.LineStyle{Color: faint, Width: px(0.6)}, r.Min.X, r.Min.Y, r.Max.X, r.Max.Y)
	}
}

// hatched is the swatch of blocked time.
func hatched(c draw.Canvas, r vg.Rectangle) {
	solid(white)(c, r)
	hatch(c, r)
}

// stroke is the swatch of a line.
func stroke(col color.Color) func(draw.Canvas, vg.Rectangle) {
	return func(c draw.Canvas, r vg.Rectangle) {
		c.StrokeLine2(draw.LineStyle{Color: col, Width: px(1.4)}, r.Min.X, r.Min.Y+px(2), r.Max.X, r.Max.Y-px(2))
	}
}

// commonLegends assigns colors over all diagrams of a stack, so that equal
// categories look the same, and describes each diagram in the same order.
func commonLegends(ts []*Timeline) ([][]paint, []timeLegend) {
	type key struct {
		name  string
		group Group
	}
	index := map[key]int{}
	var cats []Category
	var weight []int64 // in all diagrams
	places := make([][]int, len(ts))
	for i, t := range ts {
		for j, c := range t.opts.Categories {
			k := key{c.Name, c.Group}
			n, ok := index[k]
			if !ok {
				n = len(cats)
				index[k] = n
				cats, weight = append(cats, c), append(weight, 0)
			}
			weight[n] += t.weight[j]
			places[i] = append(places[i], n)
		}
	}
	common := assign(cats, weight)
	order := byWeight(cats, weight)
	paints, legends := make([][]paint, len(ts)), make([]timeLegend, len(ts))
	for i, t := range ts {
		own := make([]int64, len(cats))
		for j, n := range places[i] {
			paints[i] = append(paints[i], common[n])
			own[n] += t.weight[j]
		}
		legends[i].addColors(cats, order, own, common, t.wholeTime())
		legends[i].addMarks(t)
	}
	legends[0].notes = resolutionNote(ts[0])
	return paints, legends
}

// wholeTime is the time of all ranks: what shares refer to.
func (t *Timeline) wholeTime() float64 {
	lanes := 0
	for r := range t.opts.Ranks {
		lanes += t.lanes(r)
	}
	return float64(t.opts.To-t.opts.From) * float64(lanes)
}

// addColors lists categories with a color of their own in an order, then one
// entry for each color that several share.
func (l *timeLegend) addColors(cats []Category, order []int, weight []int64, paints []paint, whole float64) {
	var others [groups]struct {
		weight int64
		count  int
	}
	for _, i := range order {
		if weight[i] == 0 {
			continue
		}
		if paints[i].shared {
			o := &others[min(cats[i].Group, System)]
			o.weight, o.count = o.weight+weight[i], o.count+1
			continue
		}
		l.colors = append(l.colors, legendEntry{solid(paints[i].color), cats[i].Name, percent(float64(weight[i]) / whole)})
	}
	for g, o := range others {
		_, rest := Group(g).palette()
		name := fmt.Sprintf("other %s (%d)", Group(g), o.count)
		l.mark(o.count > 0, solid(rest), name, percent(float64(o.weight)/whole))
	}
}

// percent writes a share so that little is told from nothing.
func percent(share float64) string {
	switch {
	case share > 0 && share < 0.0005:
		return "<0.1%"
	case share > 0.9995 && share < 1:
		return ">99.9%"
	}
	return fmt.Sprintf("%.1f%%", 100*share)
}

// addMarks describes what occurs besides categories.
func (l *timeLegend) addMarks(t *Timeline) {
	n := len(t.opts.Categories)
	wait, blocked, whole := float64(t.weight[n]), float64(t.weight[n+1]), t.wholeTime()
	modelled := ""
	rebuilt, cut := t.greys()
	if rebuilt { // who waits is not recorded but follows from rebuilt times
		modelled = ", modelled"
	}
	l.mark(wait > 0, solid(white), "waiting"+modelled, percent(wait/whole))
	l.mark(blocked > 0, hatched, "blocked, unexplained", percent(blocked/whole))
	unknown := whole
	for _, ns := range t.weight {
		unknown -= float64(ns)
	}
	l.mark(unknown >= 0.0005*whole, solid(ground), "no region recorded", percent(unknown/whole))
	l.mark(rebuilt, solid(greyGround), "rebuilt, not recorded", "")
	l.mark(cut, solid(greyGround), "cut, repeats what is kept", "")
	messages, collectives, volume := t.messages.count, t.collectives.count, ""
	if t.messages.bytes > 0 {
		volume = ", " + Bytes.text(float64(t.messages.bytes))
	}
	if t.messages.dense() {
		l.mark(messages > 0, solid(mix(ground, messageInk, shadeDepth(1))), "message density, behind"+volume, Count.text(float64(messages)))
	} else {
		l.mark(messages > 0, stroke(messageInk), "messages"+volume, Count.text(float64(messages)))
	}
	if t.collectives.dense() {
		l.mark(collectives > 0, solid(collectiveInk), "collectives (ticks above)", Count.text(float64(collectives)))
	} else {
		l.mark(collectives > 0, stroke(collectiveInk), "collectives", Count.text(float64(collectives)))
	}
}

// mark adds an entry for something that occurs in the diagram.
func (l *timeLegend) mark(occurs bool, swatch func(draw.Canvas, vg.Rectangle), name, value string) {
	if occurs {
		l.marks = append(l.marks, legendEntry{swatch, name, value})
	}
}

// resolutionNote says what one pixel stands for, once it stands for several
// segments or ranks.
func resolutionNote(t *Timeline) []string {
	if t.count == 0 {
		return []string{"Nothing was recorded in this range."}
	}
	if !t.crowded {
		return nil
	}
	pixel := Nanoseconds.text(float64(t.opts.To-t.opts.From) / float64(t.columns()))
	if per := (len(t.opts.Ranks) + len(t.rows) - 1) / len(t.rows); per > 1 {
		pixel += fmt.Sprintf(" of up to %d ranks", per)
	}
	return []string{"One pixel is " + pixel + " and takes the color of what ran longest in it; the paler, the longer it waited."}
}

// draw fills the column from x to right, from top down to bottom. When the categories do
// not fit above the marks, the lightest are counted together.
func (l timeLegend) draw(c draw.Canvas, x, right, top, bottom vg.Length) {
	const line = 18
	colors, marks, notes := l.colors, l.marks, l.wrapped(right-x)
	room := pixels(top-bottom)/line - len(marks) - 2
	fit := room - len(notes)
	if fit < min(len(colors), 3) { // colors matter more
		fit, notes = room, nil
	}
	if hidden := len(colors) - max(fit-1, 1); hidden > 1 {
		colors = append(colors[:len(colors)-hidden:len(colors)-hidden],
			legendEntry{func(draw.Canvas, vg.Rectangle) {}, fmt.Sprintf("and %d smaller", hidden), ""})
	}
	note := textStyle(sizeNote, faint)
	header := aligned(note, draw.XRight, draw.YTop)
	c.FillText(header, vg.Point{X: right, Y: top + px(14)}, "share of time")
	y := top
	for _, e := range colors {
		e.draw(c, x, y, right)
		y -= px(line)
	}
	y -= px(8)
	for _, e := range marks {
		e.draw(c, x, y, right)
		y -= px(line)
	}
	y -= px(8)
	for _, n := range notes {
		c.FillText(aligned(note, draw.XLeft, draw.YTop), vg.Point{X: x, Y: y}, n)
		y -= px(line - 4)
	}
}

// draw draws one line of the legend with its top at y.
func (e legendEntry) draw(c draw.Canvas, x, y, right vg.Length) {
	e.swatch(c, rect(x, y-px(2), x+px(16), y-px(13)))
	value := aligned(textStyle(sizeTick, ink), draw.XRight, draw.YCenter)
	name := aligned(textStyle(sizeTick, ink), draw.XLeft, draw.YCenter)
	mid := y - px(7.5)
	c.FillText(value, vg.Point{X: right, Y: mid}, e.value)
	room := right - x - px(22) - value.Width(e.value) - px(8)
	c.FillText(name, vg.Point{X: x + px(22), Y: mid}, shortenName(e.name, name, room))
}

// wrapped cuts the notes into lines of a width.
func (l timeLegend) wrapped(width vg.Length) []string {
	var out []string
	for _, n := range l.notes {
		out = append(out, wrap(n, textStyle(sizeNote, faint), width)...)
	}
	return out
}

// wrap cuts text into lines of a width between words.
func wrap(s string, style text.Style, width vg.Length) []string {
	var out []string
	line := ""
	for _, word := range strings.Fields(s) {
		longer := strings.TrimSpace(line + " " + word)
		if line != "" && style.Width(longer) > width {
			out = append(out, line)
			longer = word
		}
		line = longer
	}
	return append(out, line)
}
