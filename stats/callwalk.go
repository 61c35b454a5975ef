package stats

import (
	"context"

	"tracekit/engine"
	"tracekit/spill"
	"tracekit/trace"
)

// A callWalk goes over the calls of one location in order, a window of time after the
// other.
//
//	ahead are the calls from row next on that lie beside each other
type callWalk struct {
	ctx   context.Context
	l     trace.LocationID
	rows  *spill.Table[trace.Call]
	sends *spill.Table[trace.Send]
	recvs *spill.Table[trace.Recv]
	next  int
	ahead []trace.Call
}

func newCallWalk(ctx context.Context, t *trace.Trace, l trace.LocationID) callWalk {
	return callWalk{ctx: ctx, l: l, rows: t.Calls[l], sends: t.Sends[l], recvs: t.Recvs[l], ahead: t.Calls[l].From(0)}
}

// A rowEnd is where the sends and receives of the next call begin.
type rowEnd struct{ send, recv int }

// until visits the calls that are entered before end. Once the context has ended it visits
// none: the engine, which has it too, makes that an error.
func (w *callWalk) until(end int64, visit func(i int, c *trace.Call, last rowEnd)) {
	for len(w.ahead) > 0 && w.ahead[0].Enter < end {
		c := &w.ahead[0]
		i, last := w.next, rowEnd{w.sends.Len(), w.recvs.Len()}
		w.next++
		if w.ahead = w.ahead[1:]; len(w.ahead) == 0 && w.ctx.Err() == nil {
			w.ahead = w.rows.From(w.next)
		}
		if len(w.ahead) > 0 {
			last = rowEnd{int(w.ahead[0].FirstSend), int(w.ahead[0].FirstRecv)}
		}
		visit(i, c, last)
	}
}

// How many calls lie in a window, about: of all locations, and of each at least. In every window one
// goroutine waits for the others; but what they look up should still be in the processor's cache.
const (
	windowCalls      = 1 << 16
	leastWindowCalls = 2048 // of a location
)

// InWindows lets all locations advance to the end of one window of time after the other, in ticks,
// so that they have the rows of their partners at hand, and combines what they add. At the end of the
// last window there is no time any more.
func InWindows[P any](ctx context.Context, t *trace.Trace, jobs int, partial func() P,
	advance func(p P, l int, end int64), combine func(a, b P) P) (P, error) {
	total := 0
	for _, calls := range t.Calls {
		total += calls.Len()
	}
	first, last := runOf(t)
	windows := 1 + total/max(windowCalls, len(t.Calls)*leastWindowCalls)
	return engine.Windows(ctx, jobs, engine.Windowed[P]{Windows: windows, Items: len(t.Calls), Partial: partial, Combine: combine,
		Visit: func(p P, window, l int) error {
			end := first + (last-first)/int64(windows)*int64(window+1)
			if window == windows-1 {
				end = never
			}
			advance(p, l, end)
			return nil
		}})
}

// inFlight holds sends of one location from the call that posts them to the call that
// completes them.
//
//	no call before next completes any
type inFlight struct {
	rows  map[uint32][]uint32 // of the sends, in order, by the call that completes them
	next  uint32
	spare [][]uint32 // memory for more
}

func newInFlight() inFlight { return inFlight{rows: make(map[uint32][]uint32), next: trace.None} }

// add keeps a send until the call that completes it.
func (f *inFlight) add(call, send uint32) {
	rows, ok := f.rows[call]
	if n := len(f.spare); !ok && n > 0 {
		rows, f.spare = f.spare[n-1], f.spare[:n-1]
	}
	f.rows[call] = append(rows, send)
	f.next = min(f.next, call)
}

// take returns the sends that a call completes and forgets them; calls come in ascending
// order. What it returns is valid until the next add.
func (f *inFlight) take(call uint32) []uint32 {
	if call < f.next {
		return nil
	}
	rows, ok := f.rows[call]
	if ok {
		delete(f.rows, call)
		f.spare = append(f.spare, rows[:0])
	}
	if f.next = call + 1; len(f.rows) == 0 {
		f.next = trace.None
	}
	return rows
}
