package oracle

import "tracekit/trace"

// A CriticalPath is the longest chain of dependent work (DEFINITIONS 2.4). Its segments
// and the time that is not recorded add up to the run time.
type CriticalPath struct {
	Segments    []Segment                // the last one first
	Regions     map[trace.RegionID]int64 // innermost region of the path
	NotRecorded int64                    // before the first event of the path's first rank
	Outside     int64                    // outside all regions
}

// A Segment is a piece of the path on one rank.
type Segment struct {
	Rank     int
	From, To int64
}

// criticalPath walks backwards from the last event. At the end of a wait it goes on with
// the rank that caused it, at that moment.
func (a *analysis) criticalPath() {
	a.Path.Regions = make(map[trace.RegionID]int64)
	at, rank := a.First, -1
	for r := range a.defs.World() {
		if s := a.master(r); len(s.events) > 0 && (rank < 0 || s.events[len(s.events)-1].time > at) {
			at, rank = s.events[len(s.events)-1].time, r
		}
	}
	if rank < 0 {
		return
	}
	waits := append(a.finalWaits(), a.Waits...)
	before := len(a.master(rank).calls) // only calls before this one are still ahead
	for {
		w := a.lastWait(waits, rank, before, at)
		if w == nil {
			break
		}
		end := w.end()
		a.segment(rank, end, at)
		at, rank = end, int(w.Cause.Rank)
		before = w.Cause.Index
	}
	first := a.master(rank).events[0].time
	a.segment(rank, first, at)
	a.Path.NotRecorded = min(first, at) - a.First
}

// lastWait returns the last wait of a rank that ends at or before a time, in a call
// before the given one.
func (a *analysis) lastWait(waits []Wait, rank, before int, at int64) *Wait {
	var last *Wait
	for i := range waits {
		w := &waits[i]
		if w.Cause == nil || w.Kind == WrongOrderSame || w.Kind == WrongOrderDifferent || int(w.Call.Rank) != rank ||
			w.Call.Index >= before || w.end() > at {
			continue
		}
		if last == nil || w.Call.Index > last.Call.Index || w.Call == last.Call && w.end() > last.end() {
			last = w
		}
	}
	return last
}

// finalWaits returns the waits in MPI_Init and MPI_Finalize, which count as N×N.
func (a *analysis) finalWaits() []Wait {
	var waits []Wait
	for _, class := range []trace.CallClass{trace.ClassInit, trace.ClassFinalize} {
		var members []*Member
		for r := range a.defs.World() {
			for _, c := range a.master(r).calls {
				if c.Class == class {
					members = append(members, &Member{Call: c, Begin: c.Enter, End: c.Leave})
					break
				}
			}
		}
		if len(members) < 2 {
			continue
		}
		last := latest(members)
		for _, m := range members {
			if w := min(last.Begin, m.End) - m.Begin; w > 0 {
				waits = append(waits, Wait{WaitAtNxN, m.Call, m.Begin, w, last.Call})
			}
		}
	}
	return waits
}

// segment charges the time from..to of a rank to its regions.
func (a *analysis) segment(rank int, from, to int64) {
	if to <= from {
		return
	}
	a.Path.Segments = append(a.Path.Segments, Segment{rank, from, to})
	last := int64(0)
	a.walk(a.master(rank), func(open []trace.RegionID, e event) {
		if t := min(e.time, to) - max(last, from); t > 0 && e.seq > 0 {
			if len(open) > 0 {
				a.Path.Regions[open[len(open)-1]] += t
			} else {
				a.Path.Outside += t
			}
		}
		last = e.time
	})
}
