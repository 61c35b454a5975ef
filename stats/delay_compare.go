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
	type maps struct{ cause, own *timeMap }
	paths := len(d.t.Tree.Nodes)
	_, err := engine.Fold(ctx, d.jobs, len(out), func() maps { return maps{newTimeMap(paths), newTimeMap(paths)} }, func(m maps, k int) error {
		out[k] = d.compare(first+k*delayChunk, min(end, first+(k+1)*delayChunk), m.cause, m.own)
		return nil
	}, func(a, _ maps) maps { return a })
	return out, err
}

// compare compares the waits of some rows; the maps are scratch.
func (d *delays) compare(first, end int, cause, own *timeMap) *comparisons {
	c := &comparisons{first: first, waits: make([]comparison, 0, end-first), excess: make([]Segment, 0, 4*(end-first))}
	for i := first; i < end; i++ {
		w := d.waits.Ptr(i)
		k := comparison{first: int32(len(c.excess))}
		if w.cause.call != trace.None {
			k.opened = d.meetings.last(w)
			d.fill(cause, w.cause, w.end, k.opened.cause, callKey{w.at.location, k.opened.at})
			d.fill(own, w.at, w.from, k.opened.at, callKey{w.cause.location, k.opened.cause})
			c.excess = cause.excess(own, c.excess)
			for _, x := range c.excess[k.first:] {
				k.delay += x.Time
			}
			k.wait = *cause.of(PathWait)
		}
		k.end = int32(len(c.excess))
		c.waits = append(c.waits, k)
	}
	return c
}

// fill finds how a location has spent the interval between an opening and an instant in a
// call. Of the opening call itself only what lies behind the end of its partner's, other,
// counts.
func (d *delays) fill(m *timeMap, until callKey, end int64, opened uint32, other callKey) {
	m.clear()
	s, calls := d.segments[until.location], d.t.Calls[until.location]
	if enter := calls.Ptr(int(until.call)).Enter; enter < end {
		m.add(s.Own(until.call).Path, d.scope.clip(enter, end))
	}
	first, behind := s.between(opened, until.call)
	block, last := (first+segmentBlock-1)/segmentBlock, behind/segmentBlock
	if block >= last {
		m.addRows(s.rows, first, behind)
	} else {
		m.addRows(s.rows, first, block*segmentBlock)
		m.addRows(s.sums, int(s.blocks.At(block)), int(s.blocks.At(last)))
		m.addRows(s.rows, last*segmentBlock, behind)
	}
	if opened == trace.None || other.call == trace.None {
		return
	}
	leave := min(calls.Ptr(int(opened)).Leave, calls.Ptr(int(opened)+1).Enter)
	own := s.Own(opened)
	together := d.t.Calls[other.location].Ptr(int(other.call)).Leave
	m.add(own.Path, min(own.Time, d.scope.clip(min(leave, together), leave)))
}

// A timeMap sums time by call path, in ticks.
type timeMap struct {
	times []int64        // by slot
	met   []trace.PathID // that have time
}

// slots is the number of paths that are none of the tree.
const slots = 5

func newTimeMap(paths int) *timeMap { return &timeMap{times: make([]int64, paths+slots)} }

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

// excess appends by how much each time but that in waits is larger than in another map.
func (m *timeMap) excess(o *timeMap, to []Segment) []Segment {
	for _, p := range m.met {
		if more := *m.of(p) - *o.of(p); more > 0 && p != PathWait {
			to = append(to, Segment{Path: p, Time: more})
		}
	}
	return to
}
