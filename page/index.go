package page

import (
	"cmp"
	"context"
	"slices"

	"tracekit/codec"
	"tracekit/engine"
	"tracekit/spill"
	"tracekit/stats/analysis"
	"tracekit/trace"
)

// An Index answers what every location does in any stretch of time, at any resolution, in time
// that depends on the answer alone: besides the runs as they were recorded it holds them in
// cells of growing length, each level made of the one before. All of it lies in a Store. It may be
// asked by any number of goroutines.
type Index struct {
	store  *spill.Store
	jobs   int        // of an answer; below 1: one per processor
	length int64      // ns
	rows   []indexRow // as those of the Timeline

	collectives *spill.Table[Collective]
	curves      []*indexCurve
}

type indexRow struct {
	numbers  []uint32         // common ones of the location's activities
	levels   []*level         // the finest first, which is exact
	messages ordered[Message] // that it receives, in order of their receive
}

// A level holds the runs of one location in cells.
type level struct {
	resolution
	spans spans
	next  *cells // of the next level, while they are made; nil: there is none
	last  uint32 // activity of the last span
}

// growth is how many times longer the cells of a level are than those of the one before;
// coarsest, how many of them the last level has at most.
const (
	growth   = 4
	coarsest = 64
)

func newLevels(store *spill.Store, length int64, events uint64) (levels []*level) {
	at := func(step int64) *level {
		return &level{resolution: resolution{step: step}, spans: newSpans(store)}
	}
	levels = append(levels, at(1))
	for step := max(growth*length/int64(max(events, 1)), growth); step < length/coarsest; step *= growth {
		l := at(step)
		levels[len(levels)-1].next = newCells(step, l)
		levels = append(levels, l)
	}
	return levels
}

func (l *level) take(ns int64, activity uint32) {
	if l.end == 0 || l.last != activity {
		l.spans.add(span{l.end, activity})
		l.last = activity
	}
	if l.end += ns; l.next != nil {
		l.next.take(ns, activity)
	}
}

// An Indexing makes the index of a trace from the events that an analysis of the whole run decodes:
// it is a profile.Observer. Memory is bounded by the trace's Store.
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
			level.next = nil
		}
		level.spans.seal()
	}
	for _, c := range x.curves {
		c.finish()
	}
}

// NewIndex makes the index of a trace that was analyzed without an Indexing beside it, which decodes
// the trace once more.
func NewIndex(ctx context.Context, t *trace.Trace, a *analysis.Result, limits Limits, jobs int) (*Index, *Timeline, error) {
	d := NewIndexing(t, limits)
	if err := d.decode(ctx, a.Waits, jobs); err != nil {
		return nil, nil, err
	}
	return d.Index(ctx, a, jobs)
}

// Index returns the index, once the trace is analyzed, and the timeline of all of it that a page
// begins with.
func (d *Indexing) Index(ctx context.Context, a *analysis.Result, jobs int) (*Index, *Timeline, error) {
	b, t, limits, chosen := d.b, d.b.t, d.limits, d.b.chosen(a)
	x, tl, common := &Index{store: t.Store, jobs: jobs, length: b.length}, &Timeline{LengthNs: b.length}, newCommon()
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
			begin = append(begin, Curve{Counter: c.counter, Row: c.row, StepNs: s.step, Pieces: s.kept.rows})
		}
		x.rows = append(x.rows, indexRow{numbers: common.add(lane), levels: d.kept[l].levels})
		tl.Rows = append(tl.Rows, Row{Location: lane.location})
	}
	_, err := engine.Map(ctx, jobs, len(x.rows), func(_ context.Context, k int) (none struct{}, _ error) {
		x.rows[k].fit(&tl.Rows[k], b.length, b.limit)
		return none, nil
	})
	if err != nil {
		return nil, nil, err
	}
	tl.Paths, tl.Activities = common.paths, common.activities
	numbers := tl.addCurves(begin, b.counters, limits)
	for _, c := range x.curves {
		c.counter = numbers[c.counter]
	}
	for k := range x.rows {
		x.rows[k].messages = newOrdered(t.Store, (*Message).received)
	}
	x.collectives = spill.NewTable[Collective](t.Store)
	err = b.finish(ctx, jobs, tl, a, limits, &joins{
		message:    func(m Message) { x.rows[m.To].messages.add(m) },
		collective: func(c Collective) { x.collectives.Append(c) },
	})
	for k := range x.rows {
		x.rows[k].messages.seal()
	}
	if err != nil {
		return nil, nil, err
	}
	return x, tl, t.Store.Err()
}

// Move moves the index into another store. Then nothing keeps the one that it was made in, where it lies scattered among the tables of an
// analysis: what a tile has of all rows comes to lie together.
func (x *Index) Move(to *spill.Store) error {
	for k, left := 1, true; left; k++ { // the coarsest level of all rows, then the next
		left = false
		for _, r := range x.rows {
			if n := len(r.levels); k <= n {
				r.levels[n-k].spans.move(to)
				left = true
			}
		}
	}
	for k := range x.rows {
		x.rows[k].messages.move(to)
	}
	x.collectives = moved(x.collectives, to)
	for _, c := range x.curves {
		for _, l := range c.levels {
			l.parts.move(to)
		}
	}
	from := x.store
	x.store = to
	return cmp.Or(from.Err(), to.Err())
}

// fit draws the row in about as many runs as may be.
func (r *indexRow) fit(out *Row, length int64, limit int) {
	level := r.levels[0]
	for _, l := range r.levels[1:] {
		if level.spans.n <= limit {
			break
		}
		level = l
	}
	f := &fitting{length: length, limit: limit, stepper: stepper{step: level.step}}
	level.each(0, level.spans.n, func(_, ns int64, activity uint32) { f.take(ns, r.numbers[activity]) })
	f.close()
	out.StepNs, out.Runs = f.step, f.runs
}

// each yields some of the spans, whole.
func (l *level) each(first, end int, yield func(start, ns int64, activity uint32)) {
	if first >= end {
		return
	}
	r := l.spans.from(first)
	for i := first; i < end; i++ {
		this, until := r.span, l.end
		if i+1 < l.spans.n {
			r.next()
			until = r.span.start
		}
		yield(this.start, until-this.start, this.activity)
	}
}

// mostMessages is how many messages a tile holds at most: more cannot be told apart. mostRuns
// bounds the runs of a tile, by which its size is a few MB whatever is asked for; of very many
// rows it holds the coarsest cells at least.
const (
	mostMessages = 2000
	mostRuns     = 1 << 20
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
	parts, err := engine.Map(ctx, x.jobs, int(ceil(int64(len(x.rows)), rowsTogether)), func(_ context.Context, k int) ([]byte, error) {
		c := codec.ToMemory(nil)
		for _, r := range x.rows[k*rowsTogether : min((k+1)*rowsTogether, len(x.rows))] {
			r.codeTile(c, from, to, limit)
		}
		return c.Data(), nil
	})
	if err != nil {
		return nil, err
	}
	c := codec.ToMemory(slices.Concat(parts...))
	tl, all, err := x.joined(ctx, from, to)
	if err != nil {
		return nil, err
	}
	c.Uvarint(uint64(all))
	tl.codeMessages(c)
	tl.codeCollectives(c)
	return c.Data(), x.store.Err()
}

// rowsTogether is how many rows of a tile are encoded one after another.
const rowsTogether = 64

// codeTile encodes what the row does from one time to another, in so many runs if the coarsest
// level allows it.
func (r *indexRow) codeTile(c *codec.Coder, from, to int64, limit int) {
	level := r.levels[len(r.levels)-1]
	first, end := level.between(from, to)
	for k := len(r.levels) - 2; k >= 0; k-- {
		finer := r.levels[k]
		if !finer.mayFit(from, to, limit) {
			break
		}
		i, j := finer.between(from, to)
		if j-i > limit {
			break
		}
		level, first, end = finer, i, j
	}
	begin := from
	if first < end {
		begin = level.spans.from(first).span.start
	}
	c.Uvarint(uint64(level.step))
	c.Varint(from - begin)
	c.Uvarint(uint64(end - first))
	level.each(first, end, func(_, ns int64, activity uint32) {
		c.Uvarint(uint64(ns))
		c.Uvarint(uint64(r.numbers[activity]))
	})
}

// mayFit reports whether it is worth looking whether no more spans than a limit touch a stretch of
// time: there are few cells in it, or would be few spans if they were as long everywhere.
func (l *level) mayFit(from, to int64, limit int) bool {
	share := float64(to-from) / float64(max(l.end, 1))
	return (to-from)/l.step < int64(limit) || share*float64(l.spans.n) < float64(2*limit)
}

// between returns which spans touch a stretch of time.
func (l *level) between(from, to int64) (first, end int) {
	end = l.spans.before(func(t int64) bool { return t >= to })
	return max(min(l.spans.before(func(t int64) bool { return t > from })-1, end), 0), end
}

// joined returns the messages that touch a stretch of time, none if they are too many, and
// their number as far as it was counted; and as many of the collectives.
func (x *Index) joined(ctx context.Context, from, to int64) (tl *Timeline, all int, err error) {
	tl = &Timeline{}
	for k := range x.rows {
		if ctx.Err() != nil {
			return nil, 0, ctx.Err()
		}
		messages := &x.rows[k].messages
		for i := messages.before(func(t int64) bool { return t >= from }); i < messages.Len(); i++ {
			m := messages.At(i)
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
