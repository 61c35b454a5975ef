package outcome

import (
	"tracekit/document"
	"tracekit/stats/hangs"
)

// A Hang says why a job stands still, from the dumps of its ranks.
type Hang struct {
	Schema string `json:"schema"`
	hangs.Result
	Findings []document.Finding `json:"findings"`
}
