package whatif

import (
	"context"

	"tracekit/spill"
	"tracekit/trace"
)

// Times replays the run with changes. It returns, by location, the map from its (corrected) times in the run to those with the changes, and
// the spans then. Between calls each region keeps its own time unless that is changed; within calls what lies before and behind the ends of
// their waits is moved in proportion.
func (m *Model) Times(ctx context.Context, changes ...Change) ([]trace.ClockMap, []trace.Span, Prediction, error) {
	in, err := m.change(ctx, changes, true)
	defer in.release()
	if err != nil {
		return nil, nil, Prediction{}, err
	}
	r, err := m.run(ctx, in, true)
	if err != nil {
		return nil, nil, Prediction{}, err
	}
	inner, err := m.inner(ctx, in.stretches)
	if err != nil {
		return nil, nil, Prediction{}, err
	}
	maps, spans := make([]trace.ClockMap, len(m.locations)), make([]trace.Span, len(m.locations))
	for l := range maps {
		if m.master[l] == trace.None {
			maps[l] = r.times(trace.LocationID(l), inner[l])
		}
	}
	for l := range maps {
		if at := m.master[l]; at != trace.None {
			maps[l] = maps[at]
		}
		s := m.t.Span[l]
		spans[l] = trace.Span{First: maps[l].At(s.First), Last: maps[l].At(s.Last), Events: s.Events}
	}
	for _, w := range r.waits {
		w.Release()
	}
	for _, x := range inner {
		if x != nil {
			x.Release()
		}
	}
	return maps, spans, m.result(r), m.t.Store.Err()
}

// times returns the map of one location.
func (r *replay) times(l trace.LocationID, inner *spill.Table[innerKnot]) trace.ClockMap {
	k := knots{table: spill.NewTable[trace.Knot](r.t.Store)}
	calls, x := r.t.Calls[l], &r.in.locations[l]
	own := r.ownTimes(l, 0)
	row := 0 // of x
	between := 0
	gap := func(n int, end int64) { // what lies between n calls and the next one
		for base := k.last; between < inner.Len() && int(inner.Ptr(between).gap) <= n; between++ {
			if at := inner.Ptr(between); int(at.gap) == n {
				k.add(at.from, min(base+at.after, end))
			}
		}
	}
	if s := r.t.Span[l]; s.Events > 0 {
		k.add(s.First, s.First)
	}
	for i := range calls.Len() {
		c, enter := calls.Ptr(i), r.in.clocks[l].At(i)
		gap(i, enter)
		k.add(c.Enter, enter)
		for row < x.rows.Len() && (int(x.rows.Ptr(row).call) < i || x.rows.Ptr(row).before) {
			row++
		}
		waits, waited := int64(0), own.wait(uint32(i))
		if row < x.rows.Len() && int(x.rows.Ptr(row).call) == i {
			waits = r.waits[l].At(row)
		}
		if i+1 < calls.Len() && calls.Ptr(i+1).Enter < c.Leave {
			continue // it calls another one
		}
		if waited > 0 && waited < c.Leave-c.Enter {
			k.add(c.Enter+waited, enter+waits)
		}
		k.add(c.Leave, enter+waits+c.Leave-c.Enter-waited+r.in.longer[l].At(i))
	}
	gap(calls.Len(), r.end(l))
	if s := r.t.Span[l]; s.Events > 0 {
		k.add(s.Last, r.end(l))
	}
	return trace.ClockMap{Knots: k.table.Sealed()}
}

// knots collects the knots of a map that does not run backwards.
type knots struct {
	table *spill.Table[trace.Knot]
	last  int64 // the latest time so far
}

// add says to when a time moves. Of three knots with one shift the second is not needed.
func (k *knots) add(from, to int64) {
	n := k.table.Len()
	if n > 0 {
		to = max(to, k.last)
	}
	k.last = to
	next := trace.Knot{Time: from, Shift: to - from}
	if n > 1 && k.table.Ptr(n-1).Shift == next.Shift && k.table.Ptr(n-2).Shift == next.Shift {
		k.table.Set(n-1, next)
		return
	}
	k.table.Append(next)
}
