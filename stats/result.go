package stats

import (
	"tracekit/document"
	"tracekit/document/field"
	"tracekit/spill"
	"tracekit/trace"
)

// A Result is the document of an analysis with the tables that it was made from, of which the document
// holds sums; in JSON it is the document alone. The tables lie in the trace's Store.
type Result struct {
	document.Analysis

	// Waits says, by location and call, how long the call waits and for whom: the rows of
	// Waits[l] are those of Trace.Calls[l], of the whole run, times in ticks.
	Waits CallWaits `json:"-"`

	// Segments says, by location, where its time goes between and in those calls.
	Segments []*Segments `json:"-"`

	// Path is the critical path of the whole run, from its end to its begin; nil: there is none.
	Path *spill.Table[document.CriticalSegment] `json:"-"`

	// PathCosts are Delays, CriticalPath, Overhead and counters by call path.
	PathCosts []PathCost `json:"-"`

	// CallOverhead holds the overhead of each call, if OverheadOptions.PerCall asks for it.
	CallOverhead OverheadTables `json:"-"`

	// RankOverhead holds the overhead of each line on each location that has some, in order of
	// locations; rows of one line and rank are to be added.
	RankOverhead *spill.Table[RankOverhead] `json:"-"`

	// LineCalls holds the durations of the calls of the lines with the most time, if
	// OverheadOptions.PerLine asks for them.
	LineCalls []LineCalls `json:"-"`
}

// OverheadTables holds the overhead of the calls of each location, by row of
// trace.Trace.Calls. It takes the place of their sizes, which are not needed any more.
type OverheadTables []*spill.Table[callSize] // in ns, plus 1; 0: the call has none to speak of

// At returns the overhead in ns of a call of a location; ok is false if it is not known,
// because it was not asked for, the call is not selected or it is no communication event.
func (t OverheadTables) At(l trace.LocationID, call int) (ns int64, ok bool) {
	if int(l) >= len(t) {
		return 0, false
	}
	ns = int64(t[l].At(call)) - 1
	return ns, ns >= 0
}

// A RankOverhead is the overhead of a line on one rank.
type RankOverhead struct {
	Line       int // index into Overhead.Lines
	Rank       field.Rank
	OverheadNs int64
}
