package stats

import "tracekit/trace"

// A Part is the part of a trace that is selected, for stages of other packages: see Selection.
type Part struct {
	t     *trace.Trace
	scope scope
}

// NewPart returns the part that options select.
func NewPart(t *trace.Trace, opts Options) (*Part, error) {
	s, err := newScope(t, opts)
	return &Part{t, s}, err
}

// Overlaps reports whether a call of a location counts: it is selected and neither ends before
// the window nor begins after it.
func (p *Part) Overlaps(l trace.LocationID, enter, leave int64) bool {
	return p.scope.overlaps(l, enter, leave)
}

// Selection returns the block that says what is selected, nil for the whole trace.
func (p *Part) Selection() *Selection { return p.scope.selection(p.t) }

// InfoOf says what is analysed.
func InfoOf(t *trace.Trace) TraceInfo { return traceInfo(t) }
