package stats

import (
	"context"

	"tracekit/trace"
)

// CallWaits holds the waits of each location's calls.
type CallWaits []*WaitTable

// Waits finds how long each call waits and for whom, with so many goroutines (below 1: one
// per processor), without summing it up. The tables
// lie in the trace's store.
func Waits(ctx context.Context, t *trace.Trace, jobs int) (CallWaits, error) {
	s, err := newScope(t, Options{})
	if err != nil {
		return nil, err
	}
	w := newWaiting(t, &s, Options{Jobs: jobs})
	if err := w.run(ctx); err != nil {
		return nil, err
	}
	w.releaseSizes()
	return w.calls, t.Store.Err()
}

// Run returns the corrected times of the first and the last event of any location, 0 and
// 0 if there are none.
func Run(t *trace.Trace) (first, last int64) { return runOf(t) }

// At returns the instant in ns after the first event of a run of the given length, or
// unset if the instant is.
func (i Instant) At(length, unset int64) int64 {
	switch i.Kind {
	case AfterNs:
		return i.Ns
	case Fraction:
		return int64(min(max(i.Share, 0), 1) * float64(length))
	}
	return unset
}

// FindingRows returns findings as documents show them.
func FindingRows(findings []trace.Finding) []Finding {
	out := []Finding{}
	for _, f := range findings {
		out = append(out, finding(f))
	}
	return out
}
