package profile

import (
	"math"
	"slices"

	"tracekit/spill"
	"tracekit/trace"
)

// MasterOf returns, by location, the master thread of its rank if that stands for it while it is outside of any region; else None. A worker
// thread that communicates has nothing to do then, and waits for its master to give it work (DEFINITIONS 2.4).
func MasterOf(t *trace.Trace) []trace.LocationID {
	out := make([]trace.LocationID, len(t.Calls))
	for l := range out {
		out[l] = trace.None
		r := t.Rank[l]
		if t.Defs.Locations[l].Kind != trace.LocationCPUThread || int(r) >= len(t.World) || t.Calls[l].Len() == 0 {
			continue
		}
		if master := t.World[r]; int(master) < len(t.Span) && master != trace.LocationID(l) && t.Span[master].Events > 0 &&
			t.Defs.Locations[master].Kind == trace.LocationCPUThread {
			out[l] = master
		}
	}
	return out
}

// Cut has the segments of masters cut wherever a worker that they stand for begins or ends a call.
func (p *Profiler) Cut() {
	p.cuts = make([]*spill.Table[int64], len(p.T.Calls))
	workers := make(map[trace.LocationID][]*workerCalls)
	for l, master := range MasterOf(p.T) {
		if master != trace.None {
			workers[master] = append(workers[master], &workerCalls{calls: p.T.Calls[l]})
		}
	}
	for master, of := range workers {
		for {
			next := of[0]
			for _, w := range of[1:] {
				if w.at() < next.at() {
					next = w
				}
			}
			if next.at() == math.MaxInt64 {
				break
			}
			spill.Ensure(p.T.Store, &p.cuts[master]).Append(p.Scope.Clamp(next.at()))
			next.n++
		}
	}
}

// workerCalls goes over the begins and ends of calls: 2i and 2i+1 are of call i.
type workerCalls struct {
	calls *spill.Table[trace.Call]
	n     int
}

// at returns the time of the next one, the largest time if there is none.
func (w *workerCalls) at() int64 {
	if w.n >= 2*w.calls.Len() {
		return math.MaxInt64
	}
	call := w.calls.Ptr(w.n / 2)
	if w.n%2 == 0 {
		return call.Enter
	}
	return call.Leave
}

// Delegated returns segments in which what a master thread does stands in the place of time that a worker spends outside of any region.
// Of a wait of the master there is the call that waits.
func Delegated(t *trace.Trace, segments []*Segments) []*Segments {
	out := slices.Clone(segments)
	for l, master := range MasterOf(t) {
		if master == trace.None || segments[l].Rows.Len() == 0 {
			continue
		}
		out[l] = segments[l].delegated(segments[master], len(t.Tree.Nodes))
	}
	return out
}

// delegated makes segments of a worker's and its master's.
func (s *Segments) delegated(master *Segments, paths int) *Segments {
	out := &Segments{store: s.store, waits: s.waits, scope: s.scope}
	w := segmentWriter{}
	w.begin(out, s.Calls.Len(), paths)
	m := &segmentCursor{of: master}
	for call, r := range s.All() {
		if call != trace.None {
			out.Calls.Set(int(call), w.n)
		}
		if r.Path != PathOutside && r.Path != PathNotRecorded {
			m.pass(r.Time, nil)
			w.append(r)
			continue
		}
		rest := r.Time
		m.pass(r.Time, func(piece Segment) {
			w.append(piece)
			rest -= piece.Time
		})
		w.add(r.Path, rest)
	}
	w.end()
	return out
}

// A segmentCursor goes over segments in time.
type segmentCursor struct {
	of   *Segments
	row  int
	done int64        // of the row
	call trace.PathID // the last one
}

// pass goes on by a time, and tells what passes; less where the segments end.
func (c *segmentCursor) pass(time int64, tell func(Segment)) {
	for time > 0 && c.row < c.of.Rows.Len() {
		r := c.of.at(c.row)
		if r.Path == PathWait {
			r.Path, r.Visits = c.call, 0
		} else {
			c.call = r.Path
		}
		piece := min(time, r.Time-c.done)
		if tell != nil && piece > 0 {
			tell(Segment{r.Path, r.Visits, piece})
		}
		if time -= piece; c.done+piece == r.Time {
			c.row, c.done = c.row+1, 0
		} else {
			c.done += piece
		}
	}
}
