package plots

import (
	"cmp"
	"fmt"
	"image/color"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// A timeLegend stands to the right of a space-time diagram, never on it.
type timeLegend struct {
	colors []colorEntry // categories, heaviest first
	marks  []legendEntry
	notes  []string
}

// A colorEntry is a category with its share of the time.
type colorEntry struct {
	Category
	color color.RGBA
	share float64
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

// shades is the swatch of a scale from a color to another.
func shades(from, to color.RGBA) func(draw.Canvas, vg.Rectangle) {
	return func(c draw.Canvas, r vg.Rectangle) {
		const steps = 8
		step := (r.Max.X - r.Min.X) / steps
		for i := range steps {
			x := r.Min.X + vg.Length(i)*step
			fillRect(c, mix(from, to, float64(i)/(steps-1)), x, r.Min.Y, x+step, r.Max.Y)
		}
		strokeRect(c, draw.LineStyle{Color: faint, Width: px(0.6)}, r.Min.X, r.Min.Y, r.Max.X, r.Max.Y)
	}
}

// stroke is the swatch of a line.
func stroke(col color.Color) func(draw.Canvas, vg.Rectangle) {
	return func(c draw.Canvas, r vg.Rectangle) {
		c.StrokeLine2(draw.LineStyle{Color: col, Width: px(1.4)}, r.Min.X, r.Min.Y+px(2), r.Max.X, r.Max.Y-px(2))
	}
}

// commonLegends describes the diagrams of a stack, equal categories in the same order.
func commonLegends(ts []*Timeline) []timeLegend {
	type key struct{ name, class string }
	weight := map[key]int64{} // in all diagrams
	for _, t := range ts {
		for j, c := range t.opts.Categories {
			weight[key{c.Name, c.Class}] += t.weight[j]
		}
	}
	legends := make([]timeLegend, len(ts))
	for i, t := range ts {
		l, all, colors := &legends[i], make([]int64, len(t.opts.Categories)), paints(t.opts.Categories)
		for j, c := range t.opts.Categories {
			all[j] = weight[key{c.Name, c.Class}]
		}
		for _, j := range byWeight(t.opts.Categories, all) {
			if t.weight[j] > 0 {
				l.colors = append(l.colors, colorEntry{t.opts.Categories[j], colors[j], float64(t.weight[j]) / t.wholeTime()})
			}
		}
		l.addMarks(t)
		l.notes = t.opts.Notes
	}
	legends[0].notes = slices.Concat(ts[0].opts.Notes, resolutionNote(ts[0]))
	return legends
}

// wholeTime is the time of all ranks: what shares refer to.
func (t *Timeline) wholeTime() float64 {
	lanes := 0
	for r := range t.opts.Ranks {
		lanes += t.lanes(r)
	}
	return float64(t.opts.To-t.opts.From) * float64(lanes)
}

// shown returns entries for colors in no more than so many lines: the heaviest by themselves, the others added up by class, and what
// has no room even so in one.
func (l *timeLegend) shown(lines int) []legendEntry {
	alone := min(len(l.colors), lines)
	rest := classesOf(l.colors, alone)
	for alone > 0 && alone+len(rest) > lines {
		alone--
		rest = classesOf(l.colors, alone)
	}
	var out []legendEntry
	for _, c := range l.colors[:alone] {
		out = append(out, legendEntry{solid(c.color), c.Name, percent(c.share)})
	}
	fit := max(0, lines-alone)
	if fit < len(rest) {
		fit = max(1, fit-1)
	}
	hidden := 0
	for i, r := range rest {
		if i < fit {
			out = append(out, legendEntry{solid(r.color), r.Name, percent(r.share)})
		} else {
			hidden++
		}
	}
	if hidden > 0 {
		out = append(out, legendEntry{func(draw.Canvas, vg.Rectangle) {}, fmt.Sprintf("and %d smaller", hidden), ""})
	}
	return out
}

// classesOf adds up, by class, the colors behind those that have lines of their own, the heaviest class first, each in the color of
// its heaviest member. A member that has no company stays what it is.
func classesOf(colors []colorEntry, alone int) (out []colorEntry) {
	index, count := map[string]int{}, []int{}
	for _, c := range colors[alone:] {
		at, ok := index[c.Class]
		if !ok {
			at, out, count = len(out), append(out, c), append(count, 0)
			index[c.Class], out[at].share = at, 0
		}
		out[at].share += c.share
		count[at]++
	}
	for i, c := range out {
		if count[i] > 1 {
			out[i].Name = fmt.Sprintf("%s (%d regions)", cmp.Or(c.Class, "regions"), count[i])
			if slices.ContainsFunc(colors[:alone], func(a colorEntry) bool { return a.Class == c.Class }) {
				out[i].Name = "other " + out[i].Name
			}
		}
	}
	slices.SortStableFunc(out, func(a, b colorEntry) int { return cmp.Compare(b.share, a.share) })
	return out
}

// percent writes a share so that little is told from nothing.
func percent(share float64) string {
	switch {
	case share > 0 && share < 0.0005:
		return "<0.1 %"
	case share > 0.9995 && share < 1:
		return ">99.9 %"
	}
	return fmt.Sprintf("%.1f %%", 100*share)
}

// addMarks describes what occurs besides categories.
func (l *timeLegend) addMarks(t *Timeline) {
	wait, whole := float64(t.weight[len(t.opts.Categories)]), t.wholeTime()
	modelled := ""
	rebuilt, cut := t.greys()
	if rebuilt { // who waits is not recorded but follows from rebuilt times
		modelled = ", modelled"
	}
	l.mark(wait > 0, solid(opaque(t.opts.Wait, waitInk)), "waiting"+modelled, percent(wait/whole))
	unknown := whole
	for _, ns := range t.weight {
		unknown -= float64(ns)
	}
	l.mark(unknown >= 0.0005*whole, solid(ground), "nothing recorded", percent(unknown/whole))
	l.mark(rebuilt, solid(greyGround), "rebuilt, not recorded", "")
	l.mark(cut, solid(greyGround), "cut, repeats what is kept", "")
	messages, collectives, volume := t.messages.count, t.collectives.count, ""
	if t.messages.bytes > 0 {
		volume = ", " + Bytes.text(float64(t.messages.bytes))
	}
	if t.messages.dense() {
		most := fmt.Sprintf("messages, 1 to %s a place%s", Count.text(float64(t.messages.scale)), volume)
		l.mark(messages > 0, shades(mix(ground, messageInk, shadeDepth(1/math.Log1p(float64(t.messages.scale)))),
			mix(ground, messageInk, shadeDepth(1))), most, Count.text(float64(messages)))
	} else {
		l.mark(messages > 0, stroke(messageInk), "messages"+volume, Count.text(float64(messages)))
	}
	collectiveInk := opaque(t.opts.Collective, collectiveInk)
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
	return []string{"One pixel is " + pixel + ". It shows what takes most of that time, by shares."}
}

// draw fills the column from x to right, from top down to bottom. When the categories do
// not fit above the marks, the lightest are counted together.
func (l timeLegend) draw(c draw.Canvas, x, right, top, bottom vg.Length) {
	const line = 18
	notes := l.wrapped(right - x)
	room := pixels(top-bottom)/line - len(l.marks) - 2
	fit := room - len(notes)
	if fit < min(len(l.colors), 3) { // colors matter more
		fit, notes = room, nil
	}
	note := textStyle(sizeNote, faint)
	header := aligned(note, draw.XRight, draw.YTop)
	c.FillText(header, vg.Point{X: right, Y: top + px(14)}, "share of time")
	y := top
	for _, e := range l.shown(max(fit, 1)) {
		e.draw(c, x, y, right)
		y -= px(line)
	}
	y -= px(8)
	for _, e := range l.marks {
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
