package reduce

import "tracekit/trace"

// Left returns how many records of each location of a trace are there, and how many are
// left.
func (r *Reduction) Left(t *trace.Trace) (before, after []uint64) {
	for l, s := range t.Span {
		before = append(before, s.Events)
		after = append(after, r.Cuts.Left(trace.LocationID(l), s.Events))
	}
	return before, after
}
