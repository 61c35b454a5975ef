package stats

import (
	"context"

	"tracekit/engine"
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
	c := &comparisons{first: first}
	for i := first; i < end; i++ {
		w := d.waits.Ptr(i)
		k := comparison{first: int32(len(c.excess))}
		if w.cause.call != trace.None {
			k.opened = d.meetings.last(w)
			d.fill(cause, callKey{w.cause.location, w.cause.call}, k.opened.cause, callKey{w.at.location, k.opened.at})
			d.fill(own, w.at, k.opened.at, callKey{w.cause.location, k.opened.cause})
			c.excess = cause.excess(own, c.excess)
			for _, x := range c.excess[k.first:] {
				k.delay += x.Time
			}
			k.wait = cause.wait
		}
		k.end = int32(len(c.excess))
		c.waits = append(c.waits, k)
	}
	return c
}

// fill finds how a location has spent the interval between an opening and a call. Of the
// opening call itself only what lies behind the end of its partner's, other, counts.
func (d *delays) fill(m *timeMap, until callKey, opened uint32, other callKey) {
	m.clear()
	s := d.segments[until.location]
	for x := range s.Between(opened, until.call) {
		m.add(x.Path, x.Time)
	}
	if opened == trace.None || other.call == trace.None {
		return
	}
	calls := d.t.Calls[until.location]
	leave := min(calls.Ptr(int(opened)).Leave, calls.Ptr(int(opened)+1).Enter)
	own := s.Own(opened)
	together := d.t.Calls[other.location].Ptr(int(other.call)).Leave
	m.add(own.Path, min(own.Time, d.scope.clip(min(leave, together), leave)))
}

// A timeMap sums time by call path, in ticks.
type timeMap struct {
	times []int64        // by slot
	met   []trace.PathID // that have time
	wait  int64          // in waits
}

func newTimeMap(paths int) *timeMap { return &timeMap{times: make([]int64, paths+2)} }

// slot returns the index of a path: that of time outside any region and that before the
// first event follow the nodes of the tree.
func (m *timeMap) slot(p trace.PathID) int {
	switch p {
	case PathOutside:
		return len(m.times) - 1
	case PathNotRecorded:
		return len(m.times) - 2
	}
	return int(p)
}

func (m *timeMap) clear() {
	for _, p := range m.met {
		m.times[m.slot(p)] = 0
	}
	m.met, m.wait = m.met[:0], 0
}

func (m *timeMap) add(p trace.PathID, time int64) {
	if p == PathWait {
		m.wait += time
		return
	}
	if time <= 0 {
		return
	}
	t := &m.times[m.slot(p)]
	if *t == 0 {
		m.met = append(m.met, p)
	}
	*t += time
}

// excess appends by how much each time is larger than in another map.
func (m *timeMap) excess(o *timeMap, to []Segment) []Segment {
	for _, p := range m.met {
		if more := m.times[m.slot(p)] - o.times[o.slot(p)]; more > 0 {
			to = append(to, Segment{p, more})
		}
	}
	return to
}
