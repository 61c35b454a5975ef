package plots

import "slices"

// A layout says where the parts of a space-time diagram lie, in pixels from
// the figure's top left corner.
type layout struct {
	figureWidth, figureHeight int
	left, top                 int // corner of the bars' area
	width, height             int // of the bars' area
	legend                    int // left edge of the legend
	rows                      int // of bars: ranks, or pixels where ranks are more
	pinned                    int // of them, those at the top that stand apart
}

// Heights and widths of the parts around the bars.
const (
	titleHeight = 30
	stripHeight = 12 // above the bars: ticks for collectives too many to outline
	axisHeight  = 50
	edge        = 10

	labelHeight  = 18 // of a row's label
	pinnedGap    = 6  // below the rows that stand apart
	widestPinned = 8  // at most so many rows stand apart
)

// newLayout divides the figure before anything is fed, since the number of pixel
// columns decides how segments are summed up.
func newLayout(o TimelineOptions) layout {
	l := layout{figureWidth: o.Width, figureHeight: o.Height, top: edge + stripHeight}
	if o.Title != "" {
		l.top += titleHeight - edge
	}
	legendWidth := min(max(o.Width*17/100, 175), o.Width*2/5, 270)
	l.legend = o.Width - edge - legendWidth
	l.left = 34 + rankLabelWidth(o)
	l.width = l.legend - 16 - l.left
	l.height = o.Height - l.top - axisHeight
	if marked := distinct(o.Marked); len(o.Ranks)*labelHeight > l.height && len(marked) < len(o.Ranks) {
		l.pinned = min(len(marked), widestPinned, l.height/3/labelHeight)
	}
	l.rows = l.pinned + min(len(o.Ranks)-l.pinned, l.height-l.restTop())
	return l
}

// distinct returns numbers in order, each once.
func distinct(list []int) []int { return slices.Compact(slices.Sorted(slices.Values(list))) }

// restTop is where the rows begin that do not stand apart.
func (l layout) restTop() int {
	if l.pinned == 0 {
		return 0
	}
	return l.pinned*labelHeight + pinnedGap
}

// pitch is the height of those rows.
func (l layout) pitch() int { return (l.height - l.restTop()) / max(1, l.rows-l.pinned) }

// A place is where a rank is drawn.
type place struct {
	row    int
	middle float64 // of its bar, in pixels below the top of the bars' area
}

// place gives each rank its place: the first marked ones at the top, if rows stand apart there, all others below in their order.
func (l layout) place(ranks int, marked []int) []place {
	out := make([]place, ranks)
	pinned := distinct(marked)[:l.pinned]
	for i, r := range pinned {
		out[r] = place{i, (float64(i) + 0.5) * labelHeight}
	}
	rest, top := max(1, ranks-l.pinned), float64(l.restTop())
	next := 0
	for r := range out {
		if _, ok := slices.BinarySearch(pinned, r); ok {
			continue
		}
		out[r] = place{l.pinned + next*(l.rows-l.pinned)/rest, top + (float64(next)+0.5)/float64(rest)*(float64(l.height)-top)}
		next++
	}
	return out
}

// rankLabelWidth returns the pixels that the widest label of a rank takes,
// bounded so that the bars keep most of the picture.
func rankLabelWidth(o TimelineOptions) int {
	style, widest := textStyle(sizeTick, ink), 0
	for i := 0; i < len(o.Ranks); i += max(1, len(o.Ranks)/2000) {
		widest = max(widest, pixels(style.Width(oneLine(o.Ranks[i]))))
	}
	return min(widest, o.Width/6)
}

// band returns the pixels [y0, y1) of a row, relative to the bars' area.
func (l layout) band(row int) (y0, y1 int) {
	if row < l.pinned {
		return row * labelHeight, (row + 1) * labelHeight
	}
	top, rows := l.restTop(), l.rows-l.pinned
	at := func(k int) int { return top + k*(l.height-top)/rows }
	return at(row - l.pinned), at(row - l.pinned + 1)
}

// bar returns the part of the row's band that its bar fills. Bars stand apart
// where there is room, so that message lines show between them.
func (l layout) bar(row int) (y0, y1 int) {
	y0, y1 = l.band(row)
	pitch := y1 - y0
	if row >= l.pinned {
		pitch = l.pitch()
	}
	gap := 0
	switch {
	case pitch >= spaciousRow:
		gap = max(pitch*30/100, pitch-64)
	case pitch >= 5:
		gap = max(1, pitch/5)
	}
	return y0 + gap/2, y1 - (gap - gap/2)
}

// separate tells whether ground shows between the bars.
func (l layout) separate() bool { return l.pitch() >= 5 }

// spaciousRow is the height from which so much ground shows between the bars that its color is seen.
const spaciousRow = 16

// spacious tells whether the rows are so high.
func (l layout) spacious() bool { return l.pitch() >= spaciousRow }
