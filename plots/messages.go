package plots

import "math"

// A messageLayer collects messages: each as a line while they are few, all
// of them as the number of lines that cross each block of pixels.
type messageLayer struct {
	mode  MessageMode
	limit int
	lines []Message
	count int64
	bytes int64

	width, height int      // in blocks
	blocks        []uint32 // lines crossing a block, row by row

	forced bool   // the density is drawn because another diagram of the stack needs it
	scale  uint32 // the largest count of a block in the stack
}

// mostLines bounds the memory of AllMessages. So many lines cover any diagram.
const mostLines = 1 << 16

// blockSize is the side of a block of the density layer in pixels.
const blockSize = 4

// newMessageLayer reserves the blocks only where the density may be needed.
func newMessageLayer(o TimelineOptions, l layout) messageLayer {
	m := messageLayer{mode: o.Messages, limit: o.MessageLimit}
	if o.Messages == AllMessages {
		m.limit = mostLines
	}
	if o.Messages != NoMessages {
		m.width = (l.width + blockSize - 1) / blockSize
		m.height = (l.height + blockSize - 1) / blockSize
		m.blocks = make([]uint32, m.width*m.height)
	}
	return m
}

// Message adds a message. Messages with an end on a rank that is not drawn,
// or that lie wholly outside the range of time, are left out.
func (t *Timeline) Message(m Message) {
	ranks := len(t.opts.Ranks)
	if t.messages.mode == NoMessages || uint(m.From) >= uint(ranks) || uint(m.To) >= uint(ranks) ||
		max(m.Sent, m.Done) < t.opts.From || min(m.Sent, m.Done) >= t.opts.To {
		return
	}
	t.messages.count++
	t.messages.bytes += m.Bytes
	if t.messages.count <= int64(t.messages.limit) {
		t.messages.lines = append(t.messages.lines, m)
	} else {
		t.messages.lines = nil
	}
	t.messages.trace(t.fraction(m.Sent), t.height(m.From), t.fraction(m.Done), t.height(m.To))
}

// fraction returns where a time lies in the diagram, 0 at From and 1 at To.
func (t *Timeline) fraction(at int64) float64 {
	return (float64(at) - float64(t.opts.From)) / float64(t.opts.To-t.opts.From)
}

// height returns where the middle of a rank's bar lies, 0 at the top and 1 at the bottom.
func (t *Timeline) height(rank int) float64 { return t.places[rank].middle / float64(t.layout.height) }

// trace counts a line in every block that it crosses, once for each step
// along its longer side.
func (m *messageLayer) trace(x0, y0, x1, y1 float64) {
	x0, y0, x1, y1, ok := clipUnit(x0, y0, x1, y1)
	if !ok {
		return
	}
	w, h := float64(m.width), float64(m.height)
	x0, y0, x1, y1 = x0*w, y0*h, x1*w, y1*h
	steps := max(1, int(math.Ceil(max(math.Abs(x1-x0), math.Abs(y1-y0)))))
	dx, dy := (x1-x0)/float64(steps), (y1-y0)/float64(steps)
	for i := range steps {
		x := min(int(x0+(float64(i)+0.5)*dx), m.width-1)
		y := min(int(y0+(float64(i)+0.5)*dy), m.height-1)
		m.blocks[y*m.width+x]++
	}
}

// dense tells whether the density is to be drawn instead of lines, since they were too many to keep.
func (m *messageLayer) dense() bool { return m.count > 0 && (m.forced || m.lines == nil) }

// peak returns the largest count of a block.
func (m *messageLayer) peak() uint32 {
	var p uint32
	for _, n := range m.blocks {
		p = max(p, n)
	}
	return p
}

// clipUnit cuts a line to 0 ≤ x ≤ 1; y stays inside by construction.
func clipUnit(x0, y0, x1, y1 float64) (_, _, _, _ float64, ok bool) {
	if max(x0, x1) < 0 || min(x0, x1) > 1 {
		return 0, 0, 0, 0, false
	}
	at := func(x float64) float64 { return y0 + (y1-y0)*(x-x0)/(x1-x0) }
	cx0, cy0, cx1, cy1 := x0, y0, x1, y1
	if x0 < 0 || x0 > 1 {
		cx0 = min(max(x0, 0), 1)
		cy0 = at(cx0)
	}
	if x1 < 0 || x1 > 1 {
		cx1 = min(max(x1, 0), 1)
		cy1 = at(cx1)
	}
	return cx0, cy0, cx1, cy1, true
}

// A collectiveLayer collects collectives: as outlines while they are few, all
// of them as the number that ended in each pixel column.
type collectiveLayer struct {
	list   []Collective
	points int
	count  int64
	ends   []uint32
	forced bool // ticks are drawn because another diagram of the stack needs them
}

// keepPoints is the number of members of collectives drawn one by one.
const keepPoints = 6000

// newCollectiveLayer returns a layer without collectives.
func newCollectiveLayer(columns int) collectiveLayer {
	return collectiveLayer{ends: make([]uint32, columns)}
}

// Collective adds a collective operation of two ranks or more. It keeps no
// slice of the caller. One whose slices differ in length, name ranks that are
// not drawn or lie outside the range of time is left out.
func (t *Timeline) Collective(c Collective) {
	if len(c.Ranks) < 2 || len(c.Begin) != len(c.Ranks) || len(c.End) != len(c.Ranks) {
		return
	}
	first, last := int64(math.MaxInt64), int64(math.MinInt64)
	for i, r := range c.Ranks {
		if uint(r) >= uint(len(t.opts.Ranks)) {
			return
		}
		first, last = min(first, c.Begin[i]), max(last, c.End[i])
	}
	if last < t.opts.From || first >= t.opts.To {
		return
	}
	t.collectives.add(c, t.columnOf(min(max(last, t.opts.From), t.opts.To-1)))
}

// add counts a collective, and keeps a copy of it until all of them together
// have too many members.
func (l *collectiveLayer) add(c Collective, column int) {
	l.count++
	l.ends[column]++
	if l.points += len(c.Ranks); l.points > keepPoints {
		l.list = nil
		return
	}
	l.list = append(l.list, Collective{
		append([]int(nil), c.Ranks...), append([]int64(nil), c.Begin...), append([]int64(nil), c.End...),
	})
}

// dense tells whether ticks are to be drawn instead of outlines: they were too many to
// keep, or so close together that they would cover the bars.
func (l *collectiveLayer) dense() bool {
	columns := int64(0)
	for _, n := range l.ends {
		if n > 0 {
			columns++
		}
	}
	return l.count > 0 && (l.forced || l.list == nil || l.count > crowdedColumns*max(columns, 8))
}

// crowdedColumns is the mean number of collectives in a column, of those in which any end,
// that are still drawn one by one.
const crowdedColumns = 2
