package stats

import (
	"context"

	"tracekit/engine"
	"tracekit/spill"
	"tracekit/trace"
)

// comparisons are the synchronisation intervals of consecutive waits: who has spent how much
// more time where.
type comparisons struct {
	first  int // row of the first wait
	waits  []comparison
	excess []Segment
}

// A comparison is that of one wait. All times are 0 if nothing is known of its cause.
type comparison struct {
	opened     opening
	delay      int64 // what the cause has spent more than the one that waits, summed over places
	wait       int64 // its own waits in the interval
	first, end int32 // rows of excess: the places
}

// compareBatch compares the waits of some rows, in chunks.
func (d *delays) compareBatch(ctx context.Context, first, end int) ([]*comparisons, error) {
	out := make([]*comparisons, (end-first+delayChunk-1)/delayChunk)
	_, err := engine.Fold(ctx, d.jobs, len(out), d.newComparing, func(x comparing, k int) error {
		out[k] = d.compare(first+k*delayChunk, min(end, first+(k+1)*delayChunk), x)
		return nil
	}, func(a, _ comparing) comparing { return a })
	return out, err
}

// comparing is what a goroutine needs to compare waits: how the cause and the one that waits have spent
// their intervals, and where things were looked for last.
type comparing struct {
	cause, own *interval
	at         []lookedUp // by location
}

// lookedUp is where things of a location were looked for last.
type lookedUp struct {
	calls spill.Cursor[trace.Call]
	rowOf spill.Cursor[uint32] // Segments.calls
	rows  spill.Cursor[Segment]
	parts int // that begin before the last wait
}

func (d *delays) newComparing() comparing {
	paths := len(d.t.Tree.Nodes)
	x := comparing{newInterval(paths), newInterval(paths), make([]lookedUp, len(d.t.Calls))}
	for l, s := range d.segments {
		x.at[l] = lookedUp{calls: d.t.Calls[l].Cursor(), rowOf: s.calls.Cursor(), rows: s.rows.Cursor()}
	}
	return x
}

// compare compares the waits of some rows.
func (d *delays) compare(first, end int, x comparing) *comparisons {
	c := &comparisons{first: first, waits: make([]comparison, end-first), excess: make([]Segment, 0, 4*(end-first))}
	waits := d.waits.Cursor()
	for i := range c.waits {
		w, k := waits.Ptr(first+i), &c.waits[i]
		k.first = int32(len(c.excess))
		if w.cause.call != trace.None {
			k.opened = d.meetings.last(w, &x.at[w.at.location].parts)
			d.fill(x.cause, span{w.cause, w.end, k.opened.cause}, x.at)
			d.fill(x.own, span{w.at, w.from, k.opened.at}, x.at)
			d.fillBehind(x.cause, x.own)
			d.fillBehind(x.own, x.cause)
			c.excess = x.cause.excess(&x.own.timeMap, c.excess)
			for _, more := range c.excess[k.first:] {
				k.delay += more.Time
			}
			k.wait = *x.cause.of(PathWait)
		}
		k.end = int32(len(c.excess))
	}
	return c
}

// A span is the time of a location from the end of a call that opens a synchronisation interval, None:
// the begin of the run, to an instant in a later call.
type span struct {
	until  callKey
	end    int64
	opened uint32
}

// An interval is how a location has spent a span. All that wait for one in a collective ask for the
// same span, one after another: it is remembered.
type interval struct {
	timeMap
	span
	known bool

	// Of the opening call:
	left   int64   // when it is left
	ends   int64   // when it is left or the next call is entered
	own    Segment // its own time
	behind Segment // what of it lies behind the end of the partner's, and has been added last
}

func newInterval(paths int) *interval { return &interval{timeMap: newTimeMap(paths)} }

// fill finds how a location has spent a span, without the opening call itself.
func (d *delays) fill(x *interval, s span, at []lookedUp) {
	if x.known && x.span == s {
		x.undo(x.behind)
	} else {
		x.span, x.known = s, true
		d.fillSpan(x, &at[s.until.location])
	}
	x.behind = Segment{}
}

// fillBehind adds what of the opening call lies behind the end of the partner's.
func (d *delays) fillBehind(x, partner *interval) {
	if x.opened == trace.None || partner.opened == trace.None || partner.left >= x.ends {
		return
	}
	x.behind = Segment{Path: x.own.Path, Time: min(x.own.Time, d.scope.clip(partner.left, x.ends))}
	x.add(x.behind.Path, x.behind.Time)
}

// fillSpan sums what lies behind the opening call.
func (d *delays) fillSpan(x *interval, at *lookedUp) {
	x.clear()
	first, behind := 0, int(*at.rowOf.Ptr(int(x.until.call)))
	if enter := at.calls.Ptr(int(x.until.call)).Enter; enter < x.end {
		x.add(at.rows.Ptr(behind).Path, d.scope.clip(enter, x.end))
	}
	if x.opened != trace.None {
		x.left = at.calls.Ptr(int(x.opened)).Leave
		x.ends = min(x.left, at.calls.Ptr(int(x.opened)+1).Enter)
		row := int(*at.rowOf.Ptr(int(x.opened)))
		x.own = *at.rows.Ptr(row)
		if first = row + 1; at.rows.Ptr(first).Path == PathWait {
			first++
		}
	}
	s := d.segments[x.until.location]
	block, last := (first+segmentBlock-1)/segmentBlock, behind/segmentBlock
	if block >= last {
		x.addRows(s.rows, first, behind)
		return
	}
	x.addRows(s.rows, first, block*segmentBlock)
	x.addRows(s.sums, int(s.blocks.At(block)), int(s.blocks.At(last)))
	x.addRows(s.rows, last*segmentBlock, behind)
}

// A timeMap sums time by call path, in ticks.
type timeMap struct {
	times []int64        // by slot
	met   []trace.PathID // that have time
}

// slots is the number of paths that are none of the tree.
const slots = 5

func newTimeMap(paths int) timeMap { return timeMap{times: make([]int64, paths+slots)} }

// of returns the time in a path. Paths that are none of the tree, the last ones, come round to
// the begin.
func (m *timeMap) of(p trace.PathID) *int64 { return &m.times[uint32(p)+slots] }

func (m *timeMap) clear() {
	for _, p := range m.met {
		*m.of(p) = 0
	}
	m.met = m.met[:0]
}

func (m *timeMap) addRows(rows *spill.Table[Segment], first, end int) {
	for first < end {
		beside := rows.From(first)
		beside = beside[:min(len(beside), end-first)]
		for i := range beside {
			m.add(beside[i].Path, beside[i].Time)
		}
		first += len(beside)
	}
}

func (m *timeMap) add(p trace.PathID, time int64) {
	t := m.of(p)
	if *t == 0 && time > 0 {
		m.met = append(m.met, p)
	}
	*t += time
}

// undo takes back what was added last.
func (m *timeMap) undo(last Segment) {
	t := m.of(last.Path)
	if *t -= last.Time; *t == 0 && last.Time > 0 {
		m.met = m.met[:len(m.met)-1]
	}
}

// excess appends by how much each time but that in waits is larger than in another map.
func (m *timeMap) excess(o *timeMap, to []Segment) []Segment {
	for _, p := range m.met {
		if more := *m.of(p) - *o.of(p); more > 0 && p != PathWait {
			to = append(to, Segment{Path: p, Time: more})
		}
	}
	return to
}
