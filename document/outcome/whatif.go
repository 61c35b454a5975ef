package outcome

import (
	"tracekit/document"
	"tracekit/document/field"
	"tracekit/stats/whatif"
)

// A Whatif says what changes would gain. Times are in ns, of ranks after the begin of
// the run.
type Whatif struct {
	Schema    string             `json:"schema"`
	Trace     document.TraceInfo `json:"trace"`
	Changes   []string           `json:"changes"`
	Baseline  int64              `json:"baseline_ns"`
	Predicted int64              `json:"predicted_ns"`
	Gain      int64              `json:"gain_ns"`
	Share     *float64           `json:"gain_share"`                     // of baseline_ns; null: that is 0
	ZeroCost  *int64             `json:"zero_cost_runtime_ns,omitempty"` // beside an ideal network: run time with zero-cost MPI (2.6)
	Ranks     []whatif.RankTimes `json:"ranks"`
	Gains     []whatif.Gain      `json:"gains,omitempty"`
	Slack     *Slack             `json:"slack,omitempty"`
	Latency   *whatif.Curve      `json:"latency_curve,omitempty"`
	Bandwidth *whatif.Curve      `json:"bandwidth_curve,omitempty"`
	Unremoved int64              `json:"unremoved_ns,omitempty"` // costs of measuring on all ranks that there was no time to take from
	Runs      []MeasuredRun      `json:"runs,omitempty"`         // several runs, by number of processes
	Picture   string             `json:"picture,omitempty"`      // of a curve, or of the runs
	Out       string             `json:"out,omitempty"`          // the trace that was written
	Lost      map[string]uint64  `json:"lost,omitempty"`         // that its format cannot express, by what it is
	Model     ReplayModel        `json:"model"`
	Undecided *UndecidedSends    `json:"undecided,omitempty"` // not there: the run shows of all sends whether they wait
	Findings  []document.Finding `json:"findings"`

	Steps   int    `json:"-"` // of a training job, whose steps together take baseline_ns; 0: it is the run time
	Missing []bool `json:"-"` // by rank: nothing is recorded of it, and the text leaves it out
}

// A MeasuredRun is one of several runs with what measuring costs.
type MeasuredRun struct {
	Path      string   `json:"path"`
	Processes int      `json:"processes"`
	Baseline  int64    `json:"baseline_ns"`
	Predicted int64    `json:"predicted_ns"`
	Share     *float64 `json:"longer_share"` // of baseline_ns; null: that is 0
	Records   uint64   `json:"records"`
	Bytes     uint64   `json:"bytes"` // of these, by the model
	Unremoved int64    `json:"unremoved_ns"`
}

// A Slack says how much later the run as it is could have been without a later end: each
// rank at its most critical call, and the paths of calls that are next to the critical one.
type Slack struct {
	Ranks []int64    `json:"ranks"` // ns
	Next  []NextPath `json:"next"`
}

// A NextPath leads through a call, and is so much shorter than the critical path.
type NextPath struct {
	Shorter int64      `json:"shorter_ns"`
	Rank    field.Rank `json:"rank"`
	Place   string     `json:"place"`
	Start   int64      `json:"start_ns"` // of the call, after the begin of the run
}

// ReplayModel says what the replay rests on.
type ReplayModel struct {
	Synchronous *uint64 `json:"synchronous_bytes"` // size from which on sends wait for receivers; null: none is seen to
	Negative    uint64  `json:"negative_own_times"`
	LeftOut     uint64  `json:"left_out"`
	Devices     bool    `json:"waits_for_devices,omitempty"` // hosts wait for accelerators, which are not replayed
}

// UndecidedSends are sends of which the run does not show whether they wait for their receivers.
type UndecidedSends struct {
	Bytes     uint64 `json:"bytes"`        // from this size on
	Wait      bool   `json:"wait"`         // they are taken to: else nothing explains the time of the calls that complete them
	Predicted int64  `json:"predicted_ns"` // if it is the other way
}
