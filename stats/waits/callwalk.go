package waits

import (
	"context"
	"sort"

	"tracekit/engine"
	"tracekit/spill"
	"tracekit/stats/numbers"
	"tracekit/stats/scope"
	"tracekit/trace"
)

// A CallWalk goes over the calls of one location in order, window by window. It takes runs of rows that lie beside each other.
//
//	ahead are the calls of the present run, first the row of the first of them
//	end is where the sends and receives of the call after the run begin
type CallWalk struct {
	ctx   context.Context
	L     trace.LocationID
	rows  *spill.Table[trace.Call]
	Sends spill.Cursor[trace.Send]
	recvs spill.Cursor[trace.Recv]
	Ahead []trace.Call
	First int
	end   RowEnd
	all   RowEnd // the number of sends and receives
}

// NewCallWalk begins before the first call of a location.
func NewCallWalk(ctx context.Context, t *trace.Trace, l trace.LocationID) CallWalk {
	return CallWalk{ctx: ctx, L: l, rows: t.Calls[l], Sends: t.Sends[l].Cursor(), recvs: t.Recvs[l].Cursor(),
		all: RowEnd{t.Sends[l].Len(), t.Recvs[l].Len()}}
}

// A RowEnd is where the sends and receives of the next call begin.
type RowEnd struct{ Send, Recv int }

// Advance goes to the next run of calls that are entered before end; it reports whether there is
// one. Once the context has ended there is none: the engine, which has it too, makes that an error.
func (w *CallWalk) Advance(end int64) bool {
	w.First += len(w.Ahead)
	w.Ahead = w.rows.From(w.First)
	n := entered(w.Ahead, end)
	if w.ctx.Err() != nil {
		n = 0
	}
	w.cut(n)
	return n > 0
}

// entered returns how many of some calls are entered before end.
func entered(calls []trace.Call, end int64) int {
	if n := len(calls); n == 0 || calls[n-1].Enter < end {
		return n
	}
	return sort.Search(len(calls), func(i int) bool { return calls[i].Enter >= end })
}

// cut leaves so many calls in the run.
func (w *CallWalk) cut(n int) {
	w.Ahead, w.end = w.Ahead[:n], w.all
	if next := w.First + n; next < w.rows.Len() {
		c := w.rows.Ptr(next)
		w.end = RowEnd{int(c.FirstSend), int(c.FirstRecv)}
	}
}

// Beside returns the rows of the run's calls in another table by call, and cuts the run to those
// that lie beside each other. Of a table that is not there it has none.
func Beside[T any](w *CallWalk, table *spill.Table[T]) []T {
	rows := table.From(w.First)
	if table != nil && len(rows) < len(w.Ahead) {
		w.cut(len(rows))
	}
	return rows
}

// At returns a call of the run, and where its sends and receives end.
func (w *CallWalk) At(k int) (c *trace.Call, last RowEnd) {
	c, last = &w.Ahead[k], w.end
	if k++; k < len(w.Ahead) {
		last = RowEnd{int(w.Ahead[k].FirstSend), int(w.Ahead[k].FirstRecv)}
	}
	return c, last
}

// How many calls lie in a window, about: of all locations that advance together, and of each at least. In every window one
// goroutine waits for the others; but what they look up should still be in the processor's cache.
const (
	windowCalls      = 1 << 14
	leastWindowCalls = 256 // of a location
)

// How many locations that make calls advance together, about, at least. Their partners mostly are among them or near, and their rows in
// memory at a time: those of all ranks of a large run are not.
const (
	togetherInMemory = 64
	togetherSpilled  = 16 // not all is in memory
)

// InWindows lets locations advance to the end of one window of time after the other, in ticks: they have the rows of their partners at
// hand. Of very many locations some advance to the end, then the next ones. It combines what they add. At the end of a location's last
// window there is no time any more.
func InWindows[P any](ctx context.Context, t *trace.Trace, jobs int, partial func() P,
	advance func(p P, l int, end int64), combine func(a, b P) P) (P, error) {
	total, active := 0, 0
	for _, calls := range t.Calls {
		if n := calls.Len(); n > 0 {
			total, active = total+n, active+1
		}
	}
	first, last := scope.Run(t)
	together := togetherInMemory
	if t.Store.Spilled() > 0 {
		together = togetherSpilled
	}
	together = max(together, 4*engine.Workers(jobs, len(t.Calls)))
	groups := max(1, (active+together/2)/together)
	size := (len(t.Calls) + groups - 1) / groups
	windows := 1 + total/groups/max(windowCalls, size*leastWindowCalls)
	endOf := func(window int) int64 {
		if window >= windows-1 {
			return numbers.Never
		}
		return first + (last-first)/int64(windows)*int64(window+1)
	}
	next := make([]int, len(t.Calls)) // by location: the first call of the next window
	return engine.Windows(ctx, jobs, engine.Windowed[P]{Windows: groups * windows, Items: size, Partial: partial, Combine: combine,
		Visit: func(p P, round, item int) error {
			l, window := round/windows*size+item, round%windows
			if l >= len(t.Calls) {
				return nil
			}
			advance(p, l, endOf(window))
			next[l] = readAhead(t, l, next[l], endOf(window+1))
			return nil
		}})
}

// readAhead brings the calls of a location from one on that are entered before end, with their messages,
// near to the processor: in the next window partners look them up before the location itself comes to them.
// It returns the call behind them.
func readAhead(t *trace.Trace, l, from int, end int64) (to int) {
	calls := t.Calls[l]
	for to = from; ; {
		rows := calls.From(to)
		n := entered(rows, end)
		if to += n; n == 0 || n < len(rows) {
			break
		}
	}
	messages := func(call int) RowEnd {
		if call < calls.Len() {
			c := calls.Ptr(call)
			return RowEnd{int(c.FirstSend), int(c.FirstRecv)}
		}
		return RowEnd{t.Sends[l].Len(), t.Recvs[l].Len()}
	}
	first, last := messages(from), messages(to)
	calls.ReadAhead(from, to)
	t.Sends[l].ReadAhead(first.Send, last.Send)
	t.Recvs[l].ReadAhead(first.Recv, last.Recv)
	return to
}

// A RowInFlight is a send, or a part in a collective, that a later call completes than the one that begins it: that
// call, and in the lower half the row of the send or the collective.
type RowInFlight uint64

// Call returns the row of the call that completes it.
func (x RowInFlight) Call() uint32 { return uint32(x >> 32) }

// Row returns the row of what is completed.
func (x RowInFlight) Row() uint32 { return uint32(x) }

// inFlight holds what calls of one location begin until the calls that complete it: a heap.
type inFlight struct{ rows []RowInFlight }

// add keeps a row until the call that completes it.
func (f *inFlight) add(call, row uint32) {
	x, i := RowInFlight(call)<<32|RowInFlight(row), len(f.rows)
	f.rows = append(f.rows, x)
	for i > 0 {
		above := (i - 1) / 2
		if f.rows[above] <= x {
			break
		}
		f.rows[i] = f.rows[above]
		i = above
	}
	f.rows[i] = x
}

// due reports whether a call completes a row that is kept; calls come in ascending order.
func (f *inFlight) due(call uint32) bool { return len(f.rows) > 0 && f.rows[0].Call() <= call }

// take returns the row that is completed first, of those of one call the first one, and forgets it.
func (f *inFlight) take() RowInFlight {
	n := len(f.rows) - 1
	first, x, i := f.rows[0], f.rows[n], 0
	f.rows = f.rows[:n]
	for below := 1; below < n; below = 2*i + 1 {
		if below+1 < n && f.rows[below+1] < f.rows[below] {
			below++
		}
		if x <= f.rows[below] {
			break
		}
		f.rows[i] = f.rows[below]
		i = below
	}
	if n > 0 {
		f.rows[i] = x
	}
	return first
}
