package delays

import (
	"context"
	"slices"

	"tracekit/document/waitstate"
	"tracekit/engine"
	"tracekit/spill"
	"tracekit/stats/waits"
	"tracekit/trace"
)

// A delayedWait is a wait that another call has caused.
type delayedWait struct {
	end    int64 // when it is over
	time   int64 // ticks
	from   int64 // when the call begins to wait, for whatever
	at     waits.CallKey
	cause  waits.CallKey // Call None: recorded outside any call
	opened opening
	kind   waitstate.Kind
}

// An opening is where the synchronisation interval of a wait begins: the calls of the one
// that waits and of the one that makes it wait with which the two last synchronised. None:
// they never have, the interval begins with the run.
type opening struct{ at, cause uint32 }

// later returns the later of two openings of the same pair, for its first location.
func (o opening) later(p opening) opening {
	if o.at == trace.None || p.at != trace.None && p.at > o.at {
		return p
	}
	return o
}

// delayedWaits lists the waits of the selection in order of their end; of equal ones, those
// with one cause lie beside each other.
func delayedWaits(ctx context.Context, w *waits.Finder) (*spill.Table[delayedWait], error) {
	lists, err := engine.Map(ctx, w.Jobs, len(w.Calls), func(_ context.Context, l int) (*spill.Table[delayedWait], error) {
		return waitsOf(w, trace.LocationID(l)), nil
	})
	if err != nil {
		return nil, err
	}
	out := spill.NewTable[delayedWait](w.T.Store)
	m := newMerger(lists, w.T.Order())
	for n := 0; m.next(out); n++ {
		if n%4096 == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
	}
	return out, nil
}

// waitsOf lists the waits of a location, in order of calls.
func waitsOf(w *waits.Finder, l trace.LocationID) *spill.Table[delayedWait] {
	if !w.Scope.Has(l) || w.Calls[l].Rows.Len() == 0 {
		return nil
	}
	out := spill.NewTable[delayedWait](w.T.Store)
	add := func(kind waitstate.Kind, call int, c *waits.Wait, from, time int64, cause waits.CallKey) {
		if clipped := w.Scope.Clip(from, from+time); clipped > 0 {
			if !w.Scope.Has(cause.Location) {
				cause.Call = trace.None
			}
			out.Append(delayedWait{end: from + time, time: clipped, from: c.From, at: waits.CallKey{Location: l, Call: uint32(call)}, cause: cause,
				kind: kind})
		}
	}
	for first, index := range w.Calls[l].Index.Rows {
		for i, row := range index {
			if row == 0 {
				continue
			}
			c := w.Calls[l].Rows.Ptr(int(row - 1))
			late, message := w.Calls[l].Sender(c)
			if late > 0 {
				r := w.T.Recvs[l].Ptr(int(message))
				add(waitstate.LateSender, first+i, c, c.From, late,
					waits.CallKey{Location: r.SendLoc, Call: w.T.Sends[r.SendLoc].Ptr(int(r.Send)).Call})
			}
			add(c.Kind, first+i, c, c.From+late, c.Time-late, waits.CallKey{Location: c.Location, Call: c.Call})
		}
	}
	return out.Sealed()
}

// A merger merges lists of waits: those that are left are a heap by their first row.
type merger struct {
	lists []waitList
	heap  []nextWait
	order []uint32 // of locations
}

// A waitList is a list with the rows of it that were not taken.
type waitList struct {
	rows  *spill.Table[delayedWait]
	taken int
	ahead []delayedWait
}

// A nextWait is the first row that is left of a list, as far as it decides about the order.
type nextWait struct {
	end   int64  // when it is over
	cause uint64 // order of its location, and call
	list  int
}

func (w *waitList) next(list int, order []uint32) nextWait {
	first := &w.ahead[0]
	return nextWait{first.end, uint64(order[first.cause.Location])<<32 | uint64(first.cause.Call), list}
}

func (a *nextWait) before(b *nextWait) bool {
	switch {
	case a.end != b.end:
		return a.end < b.end
	case a.cause != b.cause:
		return a.cause < b.cause
	}
	return a.list < b.list
}

// newMerger returns the merger of the lists of all locations, which have an order.
func newMerger(lists []*spill.Table[delayedWait], order []uint32) *merger {
	m := &merger{order: order}
	inOrder := make([]*spill.Table[delayedWait], len(lists))
	for l, rows := range lists {
		inOrder[order[l]] = rows
	}
	for _, rows := range inOrder {
		if rows.Len() > 0 {
			list := waitList{rows: rows, ahead: rows.From(0)}
			m.heap = append(m.heap, list.next(len(m.lists), order))
			m.lists = append(m.lists, list)
		}
	}
	slices.SortFunc(m.heap, func(a, b nextWait) int {
		if a.before(&b) {
			return -1
		}
		return 1
	})
	return m
}

// next moves the first of all rows to out; it reports false if there is none.
func (m *merger) next(out *spill.Table[delayedWait]) bool {
	if len(m.heap) == 0 {
		return false
	}
	first := &m.lists[m.heap[0].list]
	out.Append(first.ahead[0])
	first.taken++
	if first.ahead = first.ahead[1:]; len(first.ahead) == 0 {
		first.ahead = first.rows.From(first.taken)
	}
	if len(first.ahead) > 0 {
		m.heap[0] = first.next(m.heap[0].list, m.order)
	} else {
		first.rows.Release()
		n := len(m.heap) - 1
		m.heap[0], m.heap = m.heap[n], m.heap[:n]
	}
	m.sink()
	return true
}

// sink restores the heap below its root.
func (m *merger) sink() {
	if len(m.heap) == 0 {
		return
	}
	i, moved := 0, m.heap[0]
	for k := 1; k < len(m.heap); k = 2*i + 1 {
		if k+1 < len(m.heap) && m.heap[k+1].before(&m.heap[k]) {
			k++
		}
		if !m.heap[k].before(&moved) {
			break
		}
		m.heap[i], i = m.heap[k], k
	}
	m.heap[i] = moved
}

// openPairs finds for each wait where the two last synchronised by a wait of one for the
// other: forward over the waits.
func openPairs(ctx context.Context, waits *spill.Table[delayedWait]) error {
	type pair struct{ low, high trace.LocationID }
	last := make(map[pair]*opening) // at is the call of the lower location
	for _, rows := range waits.Rows {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		for i := range rows {
			w := &rows[i]
			w.opened = opening{trace.None, trace.None}
			if w.cause.Call == trace.None || w.cause.Location == w.at.Location {
				continue
			}
			key, now := pair{w.at.Location, w.cause.Location}, opening{w.at.Call, w.cause.Call}
			swapped := key.low > key.high
			if swapped {
				key.low, key.high = key.high, key.low
				now.at, now.cause = now.cause, now.at
			}
			met := last[key]
			if met == nil {
				met = new(opening)
				last[key], *met = met, now
				continue
			}
			o := *met
			if swapped {
				o.at, o.cause = o.cause, o.at
			}
			if o.at < w.at.Call && o.cause < w.cause.Call {
				w.opened = o
			}
			*met = now
		}
	}
	return nil
}
