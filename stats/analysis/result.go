package analysis

import (
	"tracekit/document"
	"tracekit/spill"
	"tracekit/stats/delays"
	"tracekit/stats/overhead"
	"tracekit/stats/profile"
	"tracekit/stats/stragglers"
	"tracekit/stats/waits"
)

// A Result is the document of an analysis with the tables that it was made from, of which the document
// holds sums; in JSON it is the document alone. The tables lie in the trace's Store.
type Result struct {
	document.Analysis

	// Waits says, by location and call, how long the call waits and for whom: the rows of
	// Waits[l] are those of Trace.Calls[l], of the whole run, times in ticks.
	Waits waits.ByCall `json:"-"`

	// Exchanging is the size from which on calls that send and receive wait for the receivers of what they send: see waits.Finder.
	Exchanging uint64 `json:"-"`

	// Incomplete are the calls of which a record is missing; nil: nobody calls MPI.
	Incomplete waits.Incomplete `json:"-"`

	// Pipeline has the computations of the longest steps of a training job; nil: the trace is none of one.
	Pipeline *stragglers.Pipeline `json:"-"`

	// Segments says, by location, where its time goes between and in those calls.
	Segments []*profile.Segments `json:"-"`

	// Delegated are Segments in which master threads stand for workers that do nothing.
	Delegated []*profile.Segments `json:"-"`

	// Path is the critical path of the whole run, from its end to its begin; nil: there is none.
	Path *spill.Table[document.CriticalSegment] `json:"-"`

	// PathCosts are Delays, CriticalPath, Overhead and counters by call path.
	// of the longest step of a training job what ranks that are not slow make others wait, ns; how many steps would fit in the time outside
	// of all
	EqualStepNs  int64   `json:"-"`
	OutsideSteps float64 `json:"-"`

	PathCosts []delays.PathCost `json:"-"`

	// CallOverhead holds the overhead of each call, if overhead.Options.PerCall asks for it.
	CallOverhead overhead.ByCall `json:"-"`

	// RankOverhead holds the overhead of each line on each location that has some, in order of
	// locations; rows of one line and rank are to be added.
	RankOverhead *spill.Table[overhead.OfRank] `json:"-"`

	// LineCalls holds the durations of the calls of the lines with the most time, if
	// overhead.Options.PerLine asks for them.
	LineCalls []overhead.LineCalls `json:"-"`
}
