package nest

import (
	"context"
	"fmt"

	"tracekit/trace"
)

// A Survey says what nests in a track, and what does not.
type Survey struct {
	Events []uint64 // number of events by sub-track
	count  nestCount
}

// Find notes in a ledger what did not nest in a track, which people know as in.
func (l *Track) Find(ledger *trace.Ledger, at trace.Place, in string) {
	count := l.Survey.count
	if !l.Async { // these may overlap
		ledger.AddN(trace.CodeOverlap, count.overlaps, at, in+"; placed on separate rows")
	}
	ledger.AddN(trace.CodeUnmatchedLeave, count.unmatched, at, in+", by an E without B")
	ledger.AddN(trace.CodeLimitExceeded, count.lost, at, in+", slices that overlap on too many layers; they are left out")
	ledger.AddN(trace.CodeLimitExceeded, count.broken, at, in+", slices that a B or an E cuts; they get another end")
	ledger.AddN(trace.CodeLimitExceeded, count.deep, at,
		in+fmt.Sprintf(", slices inside %d others; the innermost of these ends before", trace.MaxDepth))
	ledger.AddN(trace.CodeOpenRegion, count.open, at, in+", by a B without E; closed with what encloses it")
}

// survey runs over a track. Slices that a begin or an end breaks, or that give way to longer ones, are
// found first and then given to the other sub-tracks.
func (s *Set) survey(ctx context.Context, l *Track) error {
	n := newNester(s, l, nil)
	n.prefer = !l.GPU && !l.Async
	err := s.walk(ctx, l, n, func() bool { return true })
	l.Survey = &Survey{[]uint64{n.events}, n.count}
	if err != nil || len(n.broken) == 0 && n.count.overlaps == 0 {
		return err
	}
	if len(n.broken) > 0 {
		l.exile = make(map[uint64]bool)
		for _, number := range n.broken {
			l.exile[number] = true
		}
	}
	broken := n.count.broken
	n = newNester(s, l, nil)
	n.exile, n.count.broken = l.exile, broken
	o := newOverlaps(s, l, n)
	err = s.walk(ctx, l, n, func() bool { return true })
	l.Survey = o.close()
	return err
}
