package nest

import (
	"context"
	"fmt"

	"tracekit/readers/internal/spool"
	"tracekit/trace"
)

// A Survey says what nests in a track, and what does not.
type Survey struct {
	Events   []uint64   // number of events by sub-track
	Outlines []*Outline // by sub-track; nil: there is none
	count    nestCount
	live     *nester // follows the filling of the track: see Set.Follow
}

// Find notes in a ledger what did not nest in a track, which people know as in.
func (l *Track) Find(ledger *trace.Ledger, at trace.Place, in string) {
	count := l.Survey.count
	if !l.Async { // these may overlap
		ledger.AddN(trace.CodeOverlap, count.overlaps, at, in+"; placed on separate rows")
	}
	ledger.AddN(trace.CodeUnmatchedLeave, count.unmatched, at, in+": an end event (E) without a begin (B)")
	ledger.AddN(trace.CodeLimitExceeded, count.lost, at, in+": slices overlap in too many layers; some are left out")
	ledger.AddN(trace.CodeLimitExceeded, count.broken, at, in+": slices cut by a B or E event; their ends were changed")
	ledger.AddN(trace.CodeLimitExceeded, count.deep, at, in+fmt.Sprintf(": slices nested in %d others; the innermost end "+
		"early", trace.MaxDepth))
	ledger.AddN(trace.CodeOpenRegion, count.open, at, in+": begin events (B) without an end (E); closed with the enclosing slice")
}

// Follow makes the survey of an empty track while it is filled, if that happens in the order of time. What the
// track is must be said before it has events.
func (s *Set) Follow(l *Track) {
	l.Stream.Observe(func(r spool.Record) {
		if l.Survey == nil {
			l.Survey = &Survey{live: s.surveyor(l, &s.paths)}
		}
		n := l.Survey.live
		if n.take(r); len(n.stack) > followed || len(n.broken) > followed {
			l.Survey = nil
			l.Stream.Observe(nil)
		}
	})
}

// followed is how much may be open on a track, and may be broken, while it is filled: of many tracks this
// is in memory at once.
const followed = 1 << 9

// surveyor returns what counts the events of sub-track 0 at first.
func (s *Set) surveyor(l *Track, paths *trace.PathCache) *nester {
	n := newNester(s, l, nil)
	n.prefer = !l.GPU && !l.Async
	n.outline(paths, uint32(l.Number))
	return n
}

// survey runs over a track, unless that was done while it was filled. Slices that a begin or an end breaks, or
// that give way to longer ones, are found first and then given to the other sub-tracks.
func (s *Set) survey(ctx context.Context, l *Track) (err error) {
	var n *nester
	if l.Survey != nil && l.Survey.live != nil && l.Stream.Observed() {
		n = l.Survey.live
		n.close()
	} else {
		n = s.surveyor(l, new(trace.PathCache))
		err = s.walk(ctx, l, n, func() bool { return true })
	}
	l.Survey = &Survey{Events: []uint64{n.events}, Outlines: []*Outline{n.outlined()}, count: n.count}
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
	n.outline(new(trace.PathCache), 0)
	o := newOverlaps(s, l, n)
	err = s.walk(ctx, l, n, func() bool { return true })
	l.Survey = o.close()
	return err
}
