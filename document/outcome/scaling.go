package outcome

import (
	"tracekit/document"
	"tracekit/stats/scaling"
)

// A Scaling is a scaling.Scaling with what is wrong with its traces.
type Scaling struct {
	*scaling.Scaling
	Findings []RunFinding `json:"findings"`
}

// A RunFinding is a finding in one of several traces.
type RunFinding struct {
	Path string `json:"path"`
	document.Finding
}
