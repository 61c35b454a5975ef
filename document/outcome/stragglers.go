package outcome

import (
	"tracekit/document"
	"tracekit/document/training"
)

// StragglersSchema names the JSON document of stragglers.
const StragglersSchema = "tracekit.stragglers/1"

// A Stragglers says what a run loses because its workers, or its ranks, are unequal.
type Stragglers struct {
	Schema   string             `json:"schema"`
	Trace    document.TraceInfo `json:"trace"`
	Training *training.Job      `json:"training,omitempty"` // nil: the trace is none of a training job
	Program  *training.Unequal  `json:"program,omitempty"`  // nil: it is
	Missing  string             `json:"missing,omitempty"`  // what a profiler has not recorded, so that steps are not known
	Out      string             `json:"out,omitempty"`      // the picture that was written
	Findings []document.Finding `json:"findings"`
}
