package plots

// A layout says where the parts of a space-time diagram lie, in pixels from
// the figure's top left corner.
type layout struct {
	figureWidth, figureHeight int
	left, top                 int // corner of the bars' area
	width, height             int // of the bars' area
	legend                    int // left edge of the legend
	rows                      int // of bars: ranks, or pixels where ranks are more
}

// Heights and widths of the parts around the bars.
const (
	titleHeight = 30
	stripHeight = 12 // above the bars: ticks for collectives too many to outline
	axisHeight  = 50
	edge        = 10
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
	l.rows = min(len(o.Ranks), l.height)
	return l
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
	return row * l.height / l.rows, (row + 1) * l.height / l.rows
}

// bar returns the part of the row's band that its bar fills. Bars stand apart
// where there is room, so that message lines show between them.
func (l layout) bar(row int) (y0, y1 int) {
	y0, y1 = l.band(row)
	pitch := l.height / l.rows
	gap := 0
	switch {
	case l.spacious():
		gap = max(pitch*30/100, pitch-64)
	case pitch >= 5:
		gap = max(1, pitch/5)
	}
	return y0 + gap/2, y1 - (gap - gap/2)
}

// separate tells whether ground shows between the bars.
func (l layout) separate() bool { return l.height/l.rows >= 5 }

// spacious tells whether so much ground shows between the bars that its color is seen.
func (l layout) spacious() bool { return l.height/l.rows >= 16 }
