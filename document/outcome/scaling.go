package outcome

import (
	"tracekit/document"
	"tracekit/stats/overhead"
	"tracekit/stats/scaling"
)

// A Scaling is a scaling.Scaling with what is wrong with its traces.
type Scaling struct {
	*scaling.Scaling
	// Next are the points that a profile lacks, those first on which overhead depends most; absent without --overhead and --profile.
	Next     []overhead.Unmeasured `json:"measure_next,omitempty"`
	Findings []RunFinding          `json:"findings"`
}

// A RunFinding is a finding in one of several traces.
type RunFinding struct {
	Path string `json:"path"`
	document.Finding
}
