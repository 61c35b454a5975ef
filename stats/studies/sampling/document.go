package sampling

import (
	"tracekit/document"
	"tracekit/document/sample"
	"tracekit/stats/measurement"
)

// Schema names the JSON document that a Document is.
const Schema = "tracekit.sample/1"

// A Document says what one or several configurations would have seen of a run, and is what
// `tracekit sample --json` prints. The first configuration stands at the top level.
type Document struct {
	Schema      string              `json:"schema"` // always Schema
	Trace       document.TraceInfo  `json:"trace"`
	Selection   *document.Selection `json:"selection,omitempty"` // nil: all ranks, the whole run
	Restriction *sample.Restriction `json:"restriction,omitempty"`
	*Result
	More     []*Result          `json:"more,omitempty"` // of the other configurations, in their order
	Costs    measurement.Costs  `json:"costs"`
	Paper    []sample.PaperRow  `json:"paper"`
	Plan     *Plan              `json:"plan,omitempty"`
	Sweep    *Sweep             `json:"sweep,omitempty"`
	Findings []document.Finding `json:"findings"`
}

// A Result is what one configuration would have seen.
type Result struct {
	Configuration string               `json:"configuration"` // its name, in the paper's form
	Settings      sample.Settings      `json:"settings"`
	Population    sample.Population    `json:"population"`
	Sampled       sample.Sampled       `json:"sampled"`
	Categories    []sample.CategoryRow `json:"categories"` // those with the most messages first
	Coverage      sample.Coverage      `json:"coverage"`
	Estimates     sample.Estimates     `json:"estimates"`
	Bias          sample.Bias          `json:"bias"`
	Model         sample.Model         `json:"model"`
	Analyses      *sample.Analyses     `json:"analyses,omitempty"` // nil: not asked for

	run *run
	k   int
}
