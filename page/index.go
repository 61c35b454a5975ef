package page

import (
	"context"
	"encoding/binary"
	"sort"

	"tracekit/engine"
	"tracekit/spill"
	"tracekit/stats"
	"tracekit/trace"
)

// An Index answers what every location does in any stretch of time, at any resolution, in time
// that depends on the answer alone: besides the runs as they were recorded it holds them in
// cells of growing length, each level made of the one before. All of it lies in a Store. It may be
// asked by any number of goroutines.
type Index struct {
	store  *spill.Store
	length int64      // ns
	rows   []indexRow // as those of the Timeline

	collectives *spill.Table[Collective]
	curves      []*indexCurve
}

type indexRow struct {
	numbers  []uint32              // common ones of the location's activities
	levels   []*level              // the finest first, which is exact
	messages *spill.Table[Message] // that it receives, in order of their receive
}

// A level holds the runs of one location in cells.
type level struct {
	step  int64
	spans *spill.Table[span]
	end   int64
	next  *cells // of the next level; nil: there is none
}

// A span lasts until the next one begins, the last until the end of the run.
type span struct {
	start    int64 // ns
	activity uint32
}

// growth is how many times longer the cells of a level are than those of the one before;
// coarsest, how many of them the last level has at most.
const (
	growth   = 4
	coarsest = 64
)

func newLevels(store *spill.Store, length int64, events uint64) (levels []*level) {
	exact := &level{step: 1, spans: spill.NewTable[span](store)}
	levels = append(levels, exact)
	for step := max(growth*length/int64(max(events, 1)), growth); step < length/coarsest; step *= growth {
		l := &level{step: step, spans: spill.NewTable[span](store)}
		levels[len(levels)-1].next = newCells(step, l)
		levels = append(levels, l)
	}
	return levels
}

func (l *level) take(ns int64, activity uint32) {
	if n := l.spans.Len(); n == 0 || l.spans.Ptr(n-1).activity != activity {
		l.spans.Append(span{l.end, activity})
	}
	if l.end += ns; l.next != nil {
		l.next.take(ns, activity)
	}
}

// An Indexing makes the index of a trace from the events that an analysis of the whole run decodes:
// it is a stats.Beside. Memory is bounded by the trace's Store.
type Indexing struct {
	drawing[*indexed]
	limits Limits
}

// indexed is what a location did, at every resolution.
type indexed struct {
	b      *builder
	store  *spill.Store
	events uint64
	levels []*level
	curves []*indexCurve
}

// NewIndexing returns an indexing of a trace. The limits are those of the timeline that a page
// begins with.
func NewIndexing(t *trace.Trace, limits Limits) *Indexing {
	b := newBuilder(t, limits)
	return &Indexing{newDrawing(b, func(l trace.LocationID) *indexed {
		events := t.Span[l].Events
		return &indexed{b: b, store: t.Store, events: events, levels: newLevels(t.Store, b.length, events)}
	}), limits}
}

func (x *indexed) take(ns int64, activity uint32) { x.levels[0].take(ns, activity) }

func (x *indexed) curve(counter int) plotter {
	c := newIndexCurve(x.store, counter, x.b.length, x.events)
	x.curves = append(x.curves, c)
	return c
}

func (x *indexed) close() {
	for _, level := range x.levels {
		if level.next != nil {
			level.next.close()
		}
	}
	for _, c := range x.curves {
		c.finish()
	}
}

// NewIndex makes the index of a trace that was analysed without an Indexing beside it, which decodes
// the trace once more.
func NewIndex(ctx context.Context, t *trace.Trace, a *stats.Analysis, limits Limits, jobs int, progress *engine.Progress) (*Index, *Timeline, error) {
	d := NewIndexing(t, limits)
	if err := d.decode(ctx, a.Waits, jobs, progress); err != nil {
		return nil, nil, err
	}
	return d.Index(ctx, a, jobs)
}

// Index returns the index, once the trace is analysed, and the timeline of all of it that a page
// begins with.
func (d *Indexing) Index(ctx context.Context, a *stats.Analysis, jobs int) (*Index, *Timeline, error) {
	b, t, limits, chosen := d.b, d.b.t, d.limits, d.b.chosen(a)
	x, tl, common := &Index{store: t.Store, length: b.length}, &Timeline{LengthNs: b.length}, newCommon()
	var locations []trace.LocationID
	var begin []Curve
	for l, lane := range d.lanes {
		if lane == nil {
			continue
		}
		for _, c := range d.kept[l].curves {
			if !chosen[c.counter] {
				c.release()
				continue
			}
			c.row = uint32(len(tl.Rows))
			x.curves = append(x.curves, c)
			s := c.sketch(0, b.length, b.pieces)
			begin = append(begin, Curve{Counter: c.counter, Row: c.row, StepNs: s.step(), Pieces: s.kept.rows})
		}
		row := indexRow{numbers: common.add(lane), levels: d.kept[l].levels}
		x.rows = append(x.rows, row)
		locations = append(locations, lane.location)
		drawn := row.fit(b.length, b.limit)
		drawn.Location = lane.location
		tl.Rows = append(tl.Rows, drawn)
	}
	tl.Paths, tl.Activities = common.paths, common.activities
	numbers := tl.addCurves(begin, b.counters, limits)
	for _, c := range x.curves {
		c.counter = numbers[c.counter]
	}
	if err := b.finish(ctx, tl, a, limits); err != nil {
		return nil, nil, err
	}
	if _, err := engine.Map(ctx, jobs, len(x.rows), func(ctx context.Context, k int) (_ struct{}, err error) {
		x.rows[k].messages, err = b.received(ctx, locations[k])
		return struct{}{}, err
	}); err != nil {
		return nil, nil, err
	}
	x.collectives = spill.NewTable[Collective](t.Store)
	for i := range t.Collectives.Len() {
		if i%64 == 0 && ctx.Err() != nil {
			return nil, nil, ctx.Err()
		}
		if c, ok := b.collective(t.Collectives.At(i)); ok {
			x.collectives.Append(c)
		}
	}
	return x, tl, t.Store.Err()
}

// received returns the messages that are drawn of those that a location receives.
func (b *builder) received(ctx context.Context, l trace.LocationID) (*spill.Table[Message], error) {
	messages := spill.NewTable[Message](b.t.Store)
	for i := range b.t.Recvs[l].Len() {
		if i%heeded == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if m, ok := b.message(l, i); ok {
			messages.Append(m)
		}
	}
	return messages.Sealed(), nil
}

// fit returns the row in about as many runs as may be.
func (r *indexRow) fit(length int64, limit int) Row {
	level := r.levels[0]
	for _, l := range r.levels[1:] {
		if level.spans.Len() <= limit {
			break
		}
		level = l
	}
	f := &fitting{length: length, limit: limit, runs: runs{step: level.step}}
	level.each(0, length, func(_, ns int64, activity uint32) bool {
		f.take(ns, r.numbers[activity])
		return true
	})
	f.close()
	return Row{StepNs: f.runs.step, Runs: f.runs.runs}
}

// each yields the spans that touch a stretch of time, whole, until told to stop.
func (l *level) each(from, to int64, yield func(start, ns int64, activity uint32) bool) {
	n := l.spans.Len()
	for i := l.at(from); i < n; i++ {
		s, end := l.spans.At(i), l.end
		if s.start >= to {
			return
		}
		if i+1 < n {
			end = l.spans.At(i + 1).start
		}
		if !yield(s.start, end-s.start, s.activity) {
			return
		}
	}
}

// mostMessages is how many messages a tile holds at most: more cannot be told apart. mostRuns
// bounds the runs of a tile, by which its size is a few MB whatever is asked for; of very many
// rows it holds the coarsest cells at least.
const (
	mostMessages = 2000
	mostRuns     = 3 << 20
)

// Tile encodes what all rows do from one time to another, at so many steps. It is a sequence
// of variable-length integers as Timeline's:
//
//	for each row: the step that its runs are rounded to; begin of the first run before the tile's (signed: from − begin); number of
//	runs; for each: length in ns, activity
//	number of messages of the tile, and of those that follow, none if there are too many; for
//	each: as in a timeline
//	number of collectives that follow; for each: as in a timeline
func (x *Index) Tile(ctx context.Context, from, to int64, steps int) ([]byte, error) {
	from, to = max(from, 0), min(to, x.length)
	limit := min(2*steps, mostRuns/max(len(x.rows), 1))
	var b, row []byte
	for _, r := range x.rows {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		level := r.levels[len(r.levels)-1]
		for k := len(r.levels) - 2; k >= 0 && r.levels[k].count(from, to) <= limit; k-- {
			level = r.levels[k]
		}
		n, begin := 0, from
		row = row[:0]
		level.each(from, to, func(start, ns int64, activity uint32) bool {
			if n == 0 {
				begin = start
			}
			n++
			row = binary.AppendUvarint(row, uint64(ns))
			row = binary.AppendUvarint(row, uint64(r.numbers[activity]))
			return true
		})
		b = binary.AppendUvarint(b, uint64(level.step))
		b = binary.AppendVarint(b, from-begin)
		b = binary.AppendUvarint(b, uint64(n))
		b = append(b, row...)
	}
	tl, all, err := x.joined(ctx, from, to)
	if err != nil {
		return nil, err
	}
	b = binary.AppendUvarint(b, uint64(all))
	b = tl.appendMessages(b)
	return tl.appendCollectives(b), x.store.Err()
}

// count returns how many spans touch a stretch of time.
func (l *level) count(from, to int64) int {
	n := l.spans.Len()
	if l.step > 1 && (to-from)/l.step+2 < int64(n) { // as many as there are cells at most
		n = int((to-from)/l.step + 2)
	}
	if n <= 256 {
		return n
	}
	return l.at(to-1) - l.at(from) + 1
}

// at returns the number of the span that holds a time.
func (l *level) at(t int64) int {
	return max(sort.Search(l.spans.Len(), func(i int) bool { return l.spans.Ptr(i).start > t })-1, 0)
}

// joined returns the messages that touch a stretch of time, none if they are too many, and
// their number as far as it was counted; and as many of the collectives.
func (x *Index) joined(ctx context.Context, from, to int64) (tl *Timeline, all int, err error) {
	tl = &Timeline{}
	for _, r := range x.rows {
		if ctx.Err() != nil {
			return nil, 0, ctx.Err()
		}
		n := r.messages.Len()
		for i := sort.Search(n, func(i int) bool { return r.messages.Ptr(i).ReceivedNs >= from }); i < n; i++ {
			m := r.messages.At(i)
			if m.SentNs <= to {
				if all++; all > mostMessages {
					break
				}
				tl.Messages = append(tl.Messages, m)
			}
			if m.ReceivedNs > to+(to-from) { // later ones were hardly sent before
				break
			}
		}
		if all > mostMessages {
			tl.Messages = nil
			break
		}
	}
	for _, colls := range x.collectives.Rows {
		for _, c := range colls {
			if c.BeginNs > to || c.EndNs < from {
				continue
			}
			if tl.Collectives = append(tl.Collectives, c); len(tl.Collectives) > mostMessages {
				tl.Collectives = nil
				return tl, all, nil
			}
		}
	}
	return tl, all, nil
}
