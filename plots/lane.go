package plots

import (
	"cmp"
	"fmt"
	"slices"
)

// A Lane is the line of one rank in the diagram: it sums up the rank's bar in pixel columns. It has memory of its own and shares nothing
// that changes with other lanes. It is fed in order of time: only the current column needs a sum for every category.
type Lane struct {
	t     *Timeline
	rank  int
	cells []cell

	col        int   // current column
	start, end int64 // its bounds
	sums       []int64
	touched    []int // slots of sums that are not 0

	last     int64 // end of the last segment
	weight   []int64
	count    int64
	segments []segment // the first of them, up to limit
	limit    int
	err      error
}

// A segment is kept to be drawn by itself, while there are few.
type segment struct {
	start, end int64
	rank, slot int
}

// keepSegments is the number of segments that are drawn one by one.
const keepSegments = 5000

// Lane returns an empty accumulator for the rank with this index.
// It panics when there is no such rank.
func (t *Timeline) Lane(rank int) *Lane {
	if rank < 0 || rank >= len(t.opts.Ranks) {
		panic(fmt.Sprintf("plots: lane of rank %d of %d", rank, len(t.opts.Ranks)))
	}
	slots := len(t.weight)
	return &Lane{
		t: t, rank: rank, cells: make([]cell, t.columns()),
		start: t.bounds[0], end: t.bounds[1], last: t.opts.From,
		sums: make([]int64, slots), weight: make([]int64, slots),
		// Open lanes together keep no more than a few times the limit.
		limit: max(16, min(keepSegments, 8*keepSegments/len(t.opts.Ranks))),
	}
}

// Segment adds what the rank did from start to end. Segments come in order of
// time and do not overlap; what lies outside the diagram's range is cut off.
// The category (an index into TimelineOptions.Categories) counts for Code
// only. The first breach of this is reported by Add and ends the lane.
func (l *Lane) Segment(start, end int64, category int, kind Kind) {
	slot := category
	if kind != Code {
		slot = len(l.t.opts.Categories) + int(kind-Wait)
	}
	if end <= l.t.opts.From || start >= l.t.opts.To {
		return
	}
	start, end = max(start, l.t.opts.From), min(end, l.t.opts.To)
	if start < l.last || end < start || !l.known(slot, kind) {
		l.reject(start, end, category, kind)
		return
	}
	if start == end || l.err != nil {
		return
	}
	l.last = end
	if l.count++; l.count <= int64(l.limit) {
		l.segments = append(l.segments, segment{start, end, l.rank, slot})
	}
	if start >= l.start && end <= l.end {
		l.add(slot, end-start)
		return
	}
	l.spread(slot, start, end)
}

// known tells whether a slot is one that this kind may use.
func (l *Lane) known(slot int, kind Kind) bool {
	if kind == Code {
		return uint(slot) < uint(len(l.t.opts.Categories))
	}
	return kind < kinds
}

// reject keeps the first breach of the contract; Add reports it.
func (l *Lane) reject(start, end int64, category int, kind Kind) {
	if l.err == nil {
		l.err = fmt.Errorf("space-time diagram: rank %s: segment %d to %d (category %d, kind %d) after %d: out of order or unknown",
			l.t.opts.Ranks[l.rank], start, end, category, kind, l.last)
	}
}

// add counts time of the current column.
func (l *Lane) add(slot int, ns int64) {
	if l.sums[slot] == 0 {
		l.touched = append(l.touched, slot)
	}
	l.sums[slot] += ns
}

// spread adds a segment that begins or ends outside the current column.
func (l *Lane) spread(slot int, start, end int64) {
	for start < end {
		if start >= l.end {
			l.flush()
			l.col = l.t.columnOf(start)
			l.start, l.end = l.t.bounds[l.col], l.t.bounds[l.col+1]
		}
		stop := min(end, l.end)
		l.add(slot, stop-start)
		start = stop
	}
}

// flush moves the sums of the current column into its cell.
func (l *Lane) flush() {
	c := &l.cells[l.col]
	categories := len(l.t.opts.Categories)
	for _, slot := range l.touched {
		ns := l.sums[slot]
		l.sums[slot] = 0
		l.weight[slot] += ns
		if c.add(slot, categories, ns); slot < categories {
			c.vote(int32(slot), ns)
		}
	}
	l.touched = l.touched[:0]
}

// Add puts a finished lane into the diagram. It returns the lane's first
// error, or one if its rank was added before. The lane must not be used again.
func (t *Timeline) Add(l *Lane) error {
	if l.err != nil {
		return l.err
	}
	if t.drawn[l.rank] == t.lanes(l.rank) {
		return fmt.Errorf("space-time diagram: rank %s added more than %d times", t.opts.Ranks[l.rank], t.drawn[l.rank])
	}
	t.drawn[l.rank]++
	l.flush()
	for slot, ns := range l.weight {
		t.weight[slot] += ns
		t.shares[l.rank].add(slot, len(t.opts.Categories), ns)
	}
	t.keep(l)
	t.join(t.RowOf(l.rank), l.cells)
	l.cells = nil
	return nil
}

// A share is the time of each kind, in ns.
type share struct{ code, wait int64 }

// add adds time of a slot, the number of categories known.
func (s *share) add(slot, categories int, ns int64) {
	if slot < categories {
		s.code += ns
	} else {
		s.wait += ns
	}
}

// join merges the cells of one more rank into a row.
func (t *Timeline) join(row int, cells []cell) {
	if t.rows[row] == nil {
		t.rows[row] = cells
		return
	}
	for i := range cells {
		t.rows[row][i].merge(cells[i])
	}
}

// keep collects the segments that are drawn one by one, or gives up on that
// for the whole diagram once they are too many.
func (t *Timeline) keep(l *Lane) {
	t.count += l.count
	if t.count > keepSegments || l.count > int64(l.limit) {
		t.crowded, t.segments = true, nil
	}
	if !t.crowded {
		at, _ := slices.BinarySearchFunc(t.segments, l.rank+1, func(s segment, rank int) int { return cmp.Compare(s.rank, rank) })
		t.segments = slices.Insert(t.segments, at, l.segments...)
	}
}

// A cell is what happened in one pixel column on the ranks of one row.
//
//	Σ ns[i] ≤ code; ns[0] ≥ ns[1] ≥ ns[2]; code+wait ≤ column × ranks
//
// code and wait are exact. The heaviest category is exact for one
// rank (every category of a column competes); where ranks share a row it is
// the heaviest of those that were among some rank's heaviest three.
type cell struct {
	share
	ns   [heaviest]int64
	slot [heaviest]int32
}

// heaviest is the number of categories that compete when rows are merged.
const heaviest = 3

// vote adds time of a category, keeping the heaviest in order; ties go to the
// category with the lower index, so that the order of feeding is no matter.
func (c *cell) vote(slot int32, ns int64) {
	i := 0 // the category's place, or the last one
	for i < heaviest-1 && (c.ns[i] == 0 || c.slot[i] != slot) {
		i++
	}
	if c.ns[i] > 0 && c.slot[i] == slot {
		ns += c.ns[i]
	} else if !c.lighter(i, slot, ns) {
		return
	}
	for ; i > 0 && c.lighter(i-1, slot, ns); i-- {
		c.ns[i], c.slot[i] = c.ns[i-1], c.slot[i-1]
	}
	c.ns[i], c.slot[i] = ns, slot
}

// lighter tells whether place i has to make way for ns of a category.
func (c *cell) lighter(i int, slot int32, ns int64) bool {
	return ns > c.ns[i] || ns == c.ns[i] && slot < c.slot[i]
}

// merge adds another rank's cell of the same column.
func (c *cell) merge(o cell) {
	c.code += o.code
	c.wait += o.wait
	for i, ns := range o.ns {
		if ns > 0 {
			c.vote(o.slot[i], ns)
		}
	}
}
