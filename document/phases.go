package document

import "tracekit/document/field"

// Phases are the iterations of the program (DEFINITIONS 2.15): from one visit of a call site to the
// next, on each rank.
type Phases struct {
	Operation string `json:"operation"` // the call that begins a phase
	field.SourceLine
	CallPath field.Path `json:"callpath"`
	Every    int        `json:"every"` // visits of the call in a phase
	Count    int        `json:"count"`
	Period   Period     `json:"period_ns"`
	Outliers int        `json:"outliers"` // phases whose duration is far from the others'
	Rows     []PhaseRow `json:"rows"`     // in order of time
}

// A Period describes the durations of phases.
type Period struct {
	Min int64 `json:"min"`
	P50 int64 `json:"p50"`
	Max int64 `json:"max"`
}

// A PhaseRow is one phase. It lasts from the first rank that begins it until the first one that
// begins the next; DurationNs is the mean over ranks of their own times from one to the other, on
// which the efficiencies rest: parallel = Σ useful / Σ own, load balance = mean / most useful time.
type PhaseRow struct {
	Phase                   int      `json:"phase"` // from 1
	FromNs                  int64    `json:"from_ns"`
	ToNs                    int64    `json:"to_ns"`
	DurationNs              int64    `json:"duration_ns"`
	ParallelEfficiency      *float64 `json:"parallel_efficiency"`
	LoadBalance             *float64 `json:"load_balance"`
	CommunicationEfficiency *float64 `json:"communication_efficiency"`
	Outlier                 bool     `json:"outlier"`
}
