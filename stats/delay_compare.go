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
// their intervals, and where collectives were looked for last.
type comparing struct {
	cause, own *interval
	met        []int // by location
}

func (d *delays) newComparing() comparing {
	paths := len(d.t.Tree.Nodes)
	return comparing{newInterval(paths), newInterval(paths), make([]int, len(d.t.Calls))}
}

// compare compares the waits of some rows.
func (d *delays) compare(first, end int, x comparing) *comparisons {
	c := &comparisons{first: first, waits: make([]comparison, 0, end-first), excess: make([]Segment, 0, 4*(end-first))}
	for i := first; i < end; i++ {
		w := d.waits.Ptr(i)
		k := comparison{first: int32(len(c.excess))}
		if w.cause.call != trace.None {
			k.opened = d.meetings.last(w, x.met)
			d.fill(x.cause, span{w.cause, w.end, k.opened.cause}, callKey{w.at.location, k.opened.at})
			d.fill(x.own, span{w.at, w.from, k.opened.at}, callKey{w.cause.location, k.opened.cause})
			c.excess = x.cause.excess(&x.own.timeMap, c.excess)
			for _, more := range c.excess[k.first:] {
				k.delay += more.Time
			}
			k.wait = *x.cause.of(PathWait)
		}
		k.end = int32(len(c.excess))
		c.waits = append(c.waits, k)
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
//
//	behind is what of the opening call lies behind the end of the partner's, and has been added last
type interval struct {
	timeMap
	span
	known  bool
	behind Segment
}

func newInterval(paths int) *interval { return &interval{timeMap: newTimeMap(paths)} }

// fill finds how a location has spent a span. Of the opening call itself only what lies behind the end
// of its partner's, other, counts.
func (d *delays) fill(x *interval, s span, other callKey) {
	if x.known && x.span == s {
		x.undo(x.behind)
	} else {
		x.span, x.known = s, true
		d.fillSpan(&x.timeMap, s)
	}
	if x.behind = (Segment{}); s.opened == trace.None || other.call == trace.None {
		return
	}
	calls := d.t.Calls[s.until.location]
	leave := min(calls.Ptr(int(s.opened)).Leave, calls.Ptr(int(s.opened)+1).Enter)
	own := d.segments[s.until.location].Own(s.opened)
	together := d.t.Calls[other.location].Ptr(int(other.call)).Leave
	x.behind = Segment{Path: own.Path, Time: min(own.Time, d.scope.clip(min(leave, together), leave))}
	x.add(x.behind.Path, x.behind.Time)
}

// fillSpan sums what lies behind the opening call.
func (d *delays) fillSpan(m *timeMap, x span) {
	m.clear()
	s, calls := d.segments[x.until.location], d.t.Calls[x.until.location]
	if enter := calls.Ptr(int(x.until.call)).Enter; enter < x.end {
		m.add(s.Own(x.until.call).Path, d.scope.clip(enter, x.end))
	}
	first, behind := s.between(x.opened, x.until.call)
	block, last := (first+segmentBlock-1)/segmentBlock, behind/segmentBlock
	if block >= last {
		m.addRows(s.rows, first, behind)
		return
	}
	m.addRows(s.rows, first, block*segmentBlock)
	m.addRows(s.sums, int(s.blocks.At(block)), int(s.blocks.At(last)))
	m.addRows(s.rows, last*segmentBlock, behind)
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
