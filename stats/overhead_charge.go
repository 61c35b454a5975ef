package stats

import (
	"context"

	"tracekit/stats/fit"
	"tracekit/trace"
)

// charge walks over the calls of all locations and charges their overhead. Locations
// advance together through windows of time, so that the rows of partners are at hand.
func (o *overheads) charge(ctx context.Context) error {
	walks := make([]*chargeWalk, len(o.t.Calls))
	for l := range walks {
		walks[l] = &chargeWalk{overheads: o, callWalk: newCallWalk(o.t, trace.LocationID(l)),
			done: make(map[uint32][]uint32), sums: make(map[trace.PathID]int64)}
	}
	err := inWindows(ctx, o.t, func(end int64) {
		for _, walk := range walks {
			walk.until(end, walk.call)
		}
	})
	if err != nil {
		return err
	}
	for _, walk := range walks {
		walk.end()
	}
	return nil
}

// chargeWalk is the walk over one location's calls.
type chargeWalk struct {
	*overheads
	callWalk
	done  map[uint32][]uint32 // rows of sends in flight, by the call that completes them
	found []messageEnd        // of the present call
	sums  map[trace.PathID]int64
	pair  pathPair // that was last looked up
	of    *pairSum // nil: none was
}

// call charges one call to its path, its key and the pairs of lines that it joins.
func (w *chargeWalk) call(i int, c *trace.Call, last rowEnd) {
	w.remember(uint32(i), c, last.send)
	e, ok := w.commCall(w.l, i, c)
	if !ok {
		delete(w.done, uint32(i))
		return
	}
	x := w.limitAt(c.Path, e.key)
	part := split(&e, x)
	w.paths[c.Path].merge(&part)
	if part.overhead > 0 {
		w.sums[c.Path] += part.overhead
	}
	if x.group >= 0 {
		w.charged[x.group] += part.overhead
	}
	if part.overhead == 0 && e.wait == 0 {
		w.countReceives(uint32(i), c, last.recv)
		delete(w.done, uint32(i))
		return
	}
	w.found = w.ends(w.found[:0], uint32(i), c, last)
	wait := w.calls[w.l].At(i)
	w.chargePairs(w.found, &part, &wait, e.wait)
}

// split divides the overhead of one call: late partner is what it waits, transfer what
// its own size needs beyond the smallest of its class, unexplained is the rest.
func split(e *commCall, x limit) overheadSum {
	s := overheadSum{calls: 1, total: e.ticks, overhead: fit.Overhead(e.time, x.tMax)}
	if s.overhead > 0 {
		s.slow = 1
	}
	s.late = min(s.overhead, e.wait)
	s.transfer = min(s.overhead-s.late, x.transfer)
	s.unexplained = s.overhead - s.late - s.transfer
	return s
}

// end notes what the location was charged, by path.
func (w *chargeWalk) end() {
	for _, path := range sortedPaths(w.sums) {
		w.byRank.Append(pathOnRank{path, w.t.Rank[w.l], w.sums[path]})
	}
}
