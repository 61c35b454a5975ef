package plots

import (
	"errors"
	"fmt"
	"image/color"
	"math/bits"
	"slices"
)

// A Kind says what a rank did in a segment of time.
type Kind uint8

// The kinds of segments.
const (
	Code Kind = iota // ran code of a category
	Wait             // wait-state time
	kinds
)

// MessageMode says how messages are drawn.
type MessageMode uint8

// The ways of drawing messages.
const (
	AutoMessages MessageMode = iota // lines up to MessageLimit, then density
	AllMessages                     // lines up to mostLines, then density
	NoMessages
)

// TimelineOptions say what a space-time diagram shows and how large it is.
// Times are integer nanoseconds from any origin that the caller likes, best
// the start of the trace, since the axis shows them as they are.
type TimelineOptions struct {
	Title    string
	Subtitle string   // what is shown of what, behind the title
	From, To int64    // the range of time drawn, From < To
	Ranks    []string // a label for each rank drawn, from top to bottom
	Lanes    []int    // how many lanes each rank has, which share its bar; nil: one each
	RankAxis string   // what the labels count; "" is "rank"

	Marked []int    // ranks, by index, that are labeled however many there are: apart at the top where rows are too thin
	Notes  []string // sentences below the legend

	Categories       []Category  // the categories that segments refer to by index
	Wait, Collective color.Color // of wait-state time, and of what joins the members of a collective; nil: the package's

	Messages     MessageMode
	MessageLimit int // most lines drawn one by one in AutoMessages; 0 is 2000

	Width, Height int // pixels; 0 is 1600 and a height that suits the ranks
}

// A Message is one line of the diagram, between ranks by index into
// TimelineOptions.Ranks.
type Message struct {
	From, To   int   // rank indices
	Sent, Done int64 // start of the send, end of the receive
	Bytes      int64 // summed up in the legend
}

// A Collective is one operation that joins several ranks.
type Collective struct {
	Ranks      []int   // indices of the members in ascending order
	Begin, End []int64 // of each member
}

// A Timeline is a space-time diagram that is being fed: one horizontal bar
// per rank, time from left to right.
//
// Bars are fed through Lanes, one per rank, which may be filled in any order
// or at once by several goroutines; everything else is for one goroutine.
// Of ranks that share a row of pixels, the order in which lanes are added may decide
// the color of a pixel; of others it changes nothing.
//
//	bounds[c] ≤ t < bounds[c+1] for every time t of pixel column c
//	len(rows) = layout.rows ≤ ranks, len(rows[r]) = 0 or columns
type Timeline struct {
	opts   TimelineOptions
	layout layout
	bounds []int64
	rows   [][]cell
	places []place // of each rank
	inRow  []int   // lanes of each row
	drawn  []int   // lanes of each rank that were added
	shares []share // of each rank
	weight []int64 // ns by slot: categories, then Wait

	segments []segment // by rank; while few, see keepSegments
	crowded  bool      // more segments than can be drawn one by one
	count    int64     // segments added

	messages    messageLayer
	collectives collectiveLayer
	gray        []greyStretch
}

// A greyStretch is a stretch of one rank that was reconstructed, or cut.
type greyStretch struct {
	rank       int
	start, end int64
	cut        bool
}

// NewTimeline checks the options and reserves memory for the pixels: at most
// about 64 bytes for each pixel of the bars, less where ranks are few.
func NewTimeline(o TimelineOptions) (*Timeline, error) {
	if o.RankAxis == "" {
		o.RankAxis = "rank"
	}
	if o.MessageLimit == 0 {
		o.MessageLimit = 2000
	}
	if o.Width == 0 {
		o.Width = 1600
	}
	if o.Height == 0 {
		o.Height = min(max(190+26*len(o.Ranks), 360), 900)
	}
	if err := o.check(); err != nil {
		return nil, fmt.Errorf("space-time diagram: %w", err)
	}
	t := &Timeline{opts: o, layout: newLayout(o)}
	t.bounds = columnBounds(o.From, o.To, t.layout.width)
	t.rows, t.inRow = make([][]cell, t.layout.rows), make([]int, t.layout.rows)
	t.places = t.layout.place(len(o.Ranks), o.Marked)
	t.drawn, t.shares = make([]int, len(o.Ranks)), make([]share, len(o.Ranks))
	for r := range o.Ranks {
		t.crowded = t.crowded || t.lanes(r) > 1
		t.inRow[t.RowOf(r)] += t.lanes(r)
	}
	t.weight = make([]int64, len(o.Categories)+int(kinds)-1)
	t.messages = newMessageLayer(o, t.layout)
	t.collectives = newCollectiveLayer(t.columns())
	return t, nil
}

// check refuses options that no diagram can be made of. The range must fit in 63
// bits, so that any two times in it can be subtracted.
func (o TimelineOptions) check() error {
	switch {
	case o.From >= o.To:
		return fmt.Errorf("the range of time %d to %d is empty", o.From, o.To)
	case o.From < 0 && o.To > o.From+int64(^uint64(0)>>1):
		return fmt.Errorf("the range of time %d to %d is too long", o.From, o.To)
	case len(o.Ranks) == 0:
		return errors.New("no ranks to draw")
	case o.Lanes != nil && len(o.Lanes) != len(o.Ranks):
		return fmt.Errorf("lanes of %d ranks, of %d that are drawn", len(o.Lanes), len(o.Ranks))
	case slices.ContainsFunc(o.Marked, func(r int) bool { return r < 0 || r >= len(o.Ranks) }):
		return fmt.Errorf("marked ranks %d of %d that are drawn", o.Marked, len(o.Ranks))
	case o.Messages > NoMessages:
		return fmt.Errorf("unknown way of drawing messages %d", o.Messages)
	}
	return checkSize(o.Width, o.Height)
}

// Pictures have to hold their own labels, and to fit in memory.
const (
	minWidth, minHeight = 240, 160
	maxSide             = 20000
)

// checkSize refuses pictures too small for their labels or absurdly large.
func checkSize(width, height int) error {
	if width < minWidth || height < minHeight || width > maxSide || height > maxSide {
		return fmt.Errorf("a picture of %d×%d pixels: want %d×%d to %d×%d", width, height, minWidth, minHeight, maxSide, maxSide)
	}
	return nil
}

// columnBounds cuts a range of time into n columns as equal as whole
// nanoseconds allow, or into single nanoseconds where there are fewer.
func columnBounds(from, to int64, n int) []int64 {
	span := uint64(to) - uint64(from)
	n = int(min(uint64(n), span))
	out := make([]int64, n+1)
	for i := range out {
		hi, lo := bits.Mul64(span, uint64(i))
		q, _ := bits.Div64(hi, lo, uint64(n))
		out[i] = from + int64(q)
	}
	return out
}

// columns returns the number of pixel columns that time is summed up in.
func (t *Timeline) columns() int { return len(t.bounds) - 1 }

// columnOf returns the column of a time in [From, To).
func (t *Timeline) columnOf(at int64) int {
	span := float64(t.opts.To - t.opts.From)
	c := int(float64(at-t.opts.From) / span * float64(t.columns()))
	c = min(max(c, 0), t.columns()-1)
	for c > 0 && at < t.bounds[c] {
		c--
	}
	for c < t.columns()-1 && at >= t.bounds[c+1] {
		c++
	}
	return c
}

// Rows returns the number of rows of pixels that have memory of their own: no more than ranks, or than pixels of height.
func (t *Timeline) Rows() int { return len(t.rows) }

// RowOf returns the row of pixels in which a rank's bar lies; several ranks
// share a row where there are more ranks than pixels.
func (t *Timeline) RowOf(rank int) int { return t.places[rank].row }

// lanes returns the number of lanes of a rank.
func (t *Timeline) lanes(rank int) int {
	if t.opts.Lanes == nil {
		return 1
	}
	return t.opts.Lanes[rank]
}

// Reconstructed marks a stretch of a rank as rebuilt, not recorded: it is
// drawn on gray ground. Unknown ranks and empty stretches are left out.
func (t *Timeline) Reconstructed(rank int, start, end int64) { t.onGrey(rank, start, end, false) }

// Cut marks a stretch of a rank as one that the trace does not have since it
// repeats others: it is drawn on gray ground as well.
func (t *Timeline) Cut(rank int, start, end int64) { t.onGrey(rank, start, end, true) }

func (t *Timeline) onGrey(rank int, start, end int64, cut bool) {
	start, end = max(start, t.opts.From), min(end, t.opts.To)
	if rank < 0 || rank >= len(t.opts.Ranks) || start >= end {
		return
	}
	// Neighbouring stretches join, so that event after event costs nothing.
	if n := len(t.gray); n > 0 && t.gray[n-1].rank == rank && t.gray[n-1].end == start && t.gray[n-1].cut == cut {
		t.gray[n-1].end = end
		return
	}
	t.gray = append(t.gray, greyStretch{rank, start, end, cut})
}

// greys tells which kinds of stretches there are.
func (t *Timeline) greys() (rebuilt, cut bool) {
	for _, g := range t.gray {
		rebuilt, cut = rebuilt || !g.cut, cut || g.cut
	}
	return rebuilt, cut
}
