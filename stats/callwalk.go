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
//	at is call next, 0 ≤ next ≤ length
type callWalk struct {
	l      trace.LocationID
	rows   *spill.Table[trace.Call]
	sends  *spill.Table[trace.Send]
	recvs  *spill.Table[trace.Recv]
	next   int
	at     trace.Call
	length int
}

func newCallWalk(t *trace.Trace, l trace.LocationID) callWalk {
	w := callWalk{l: l, rows: t.Calls[l], sends: t.Sends[l], recvs: t.Recvs[l], length: t.Calls[l].Len()}
	if w.length > 0 {
		w.at = w.rows.At(0)
	}
	return w
}

// A rowEnd is where the sends and receives of the next call begin.
type rowEnd struct{ send, recv int }

// until visits the calls that are entered before end.
func (w *callWalk) until(end int64, visit func(i int, c *trace.Call, last rowEnd)) {
	for w.next < w.length && w.at.Enter < end {
		var next trace.Call
		last := rowEnd{w.sends.Len(), w.recvs.Len()}
		if w.next+1 < w.length {
			next = w.rows.At(w.next + 1)
			last = rowEnd{int(next.FirstSend), int(next.FirstRecv)}
		}
		visit(w.next, &w.at, last)
		w.at = next
		w.next++
	}
}

// windowCalls is about how many calls of a location lie in a window.
const windowCalls = 512

// inWindows lets all locations advance to the end of one window of time after the other, so
// that they have the rows of their partners at hand, and combines what they add.
func inWindows[P any](ctx context.Context, t *trace.Trace, jobs int, partial func() P,
	advance func(p P, l int, end int64), combine func(a, b P) P) (P, error) {
	total := 0
	for _, calls := range t.Calls {
		total += calls.Len()
	}
	first, last := runOf(t)
	windows := 1 + total/max(1, len(t.Calls)*windowCalls)
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
