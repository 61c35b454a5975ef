package outcome

import (
	"tracekit/document"
	"tracekit/stats/delays"
)

// An Explain says what a wait was for: a chain of waits, each with what the next one was held up by.
type Explain struct {
	Schema   string             `json:"schema"`
	Trace    document.TraceInfo `json:"trace"`
	Chain    []delays.Link      `json:"chain"` // the wait first, its origin last; empty: no call waits there
	Findings []document.Finding `json:"findings"`
}

// A Convert says what was written and what the target format cannot express.
type Convert struct {
	Schema    string             `json:"schema"`
	In        string             `json:"in"`
	InFormat  string             `json:"in_format"`
	Out       string             `json:"out"`
	OutFormat string             `json:"out_format"`
	Events    uint64             `json:"events"`
	Rebuilt   *document.Rebuilt  `json:"rebuilt"`  // null: the trace was recorded; what is written says so too
	Clock     *document.Clock    `json:"clock"`    // null: times and measured offsets were copied, without looking at them
	Measured  int                `json:"measured"` // locations with measured clock offsets beside the times
	Lost      map[string]uint64  `json:"lost"`     // not representable in the target format, by what it is
	Findings  []document.Finding `json:"findings"` // of reading
}

// A Report says which page was written.
type Report struct {
	Schema   string             `json:"schema"`
	Out      string             `json:"out"`
	Bytes    int64              `json:"bytes"`
	Rebuilt  *document.Rebuilt  `json:"rebuilt"` // null: the trace was recorded
	Findings []document.Finding `json:"findings"`
}

// A View says where the page is served.
type View struct {
	Schema   string             `json:"schema"`
	URL      string             `json:"url"`
	Rebuilt  *document.Rebuilt  `json:"rebuilt"` // null: the trace was recorded
	Findings []document.Finding `json:"findings"`
}

// A Spacetime says what was drawn.
type Spacetime struct {
	Schema string `json:"schema"`
	Out    string `json:"out"`
	Width  int    `json:"width"`
	Height int    `json:"height"`

	Rebuilt  []*document.Rebuilt `json:"rebuilt"`  // of each trace drawn; null: it was recorded
	Findings []document.Finding  `json:"findings"` // of all traces drawn
}
