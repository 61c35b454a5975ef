package outcome

import (
	"strings"

	"tracekit/document"
	"tracekit/reduce"
	"tracekit/reduce/pattern"
	"tracekit/stats/analysis"
	"tracekit/stats/fit"
	"tracekit/stats/measurement"
	"tracekit/topology"
	"tracekit/trace"
)

// A Reduce says what was cut from a trace, and what that changes.
type Reduce struct {
	Schema  string             `json:"schema"`
	Trace   document.TraceInfo `json:"trace"`
	Out     string             `json:"out,omitempty"`
	Format  string             `json:"out_format,omitempty"`
	Rules   []string           `json:"rules"`
	Records Change[uint64]     `json:"records"`
	Bytes   Change[*int64]     `json:"bytes"` // after: null if nothing was written
	Ranks   Change[int]        `json:"ranks"`
	ByRule  []reduce.RuleCut   `json:"by_rule"`
	Kept    reduce.Kept        `json:"kept"`

	Patterns []Pattern          `json:"patterns,omitempty"`      // absent without --repeating
	Times    *PatternTimes      `json:"pattern_times,omitempty"` // absent if nothing was cut by it
	Topology string             `json:"topology"`                // that hops are of
	Hops     []topology.Average `json:"hops"`

	GridAsked bool            `json:"-"` // hops are shown in text
	Found     *pattern.Result `json:"-"` // of Patterns; nil: none were looked for

	Text     string             `json:"text"`
	Model    BufferModel        `json:"model"`
	Target   *Target            `json:"target,omitempty"`
	Findings []document.Finding `json:"findings"`

	// Absent without a certificate.
	Certificate []reduce.Figure    `json:"certificate,omitempty"`
	Error       *float64           `json:"certificate_error,omitempty"`
	NewFindings []document.Finding `json:"new_findings,omitempty"` // of the reduced trace
	Again       *Again             `json:"regenerated,omitempty"`  // absent without --repeating
	Lost        map[string]uint64  `json:"lost,omitempty"`         // not representable in the format
}

// A Change is a value of the full and of the reduced trace.
type Change[T any] struct {
	Before T `json:"before"`
	After  T `json:"after"`
}

// A BufferModel says what measuring would have cost.
type BufferModel struct {
	measurement.Costs
	Before measurement.Effect `json:"before"`
	After  measurement.Effect `json:"after"`
}

// A Target says which reductions were tried to reach a size.
type Target struct {
	Records uint64       `json:"records"` // wanted
	Bytes   int64        `json:"bytes,omitempty"`
	Tries   []reduce.Try `json:"tries"`
}

// An Again is the certificate of what --regenerate makes of a reduced trace; reduced
// stands for regenerated in it.
type Again struct {
	Error       float64         `json:"error"`
	Certificate []reduce.Figure `json:"certificate"`
}

// A Pattern is a pattern in the document of reduce.
type Pattern struct {
	Site        string `json:"site"`
	First       int    `json:"first"` // interval, from 0
	FirstNs     int64  `json:"first_ns"`
	PeriodNs    int64  `json:"period_ns"`
	Instances   int    `json:"instances"`
	Kept        int    `json:"kept"`
	Regenerated int    `json:"regenerated"` // that regenerate makes again
}

// PatternTimes says what is kept of when the instances that were cut began.
type PatternTimes struct {
	Kept       string             `json:"kept"` // "exact" or "laws"
	Bytes      int                `json:"bytes"`
	ExactBytes int                `json:"exact_bytes"` // with all times
	BoundBytes int                `json:"bound_bytes"` // with laws, however many iterations are cut; 0: exact
	Seed       uint64             `json:"seed"`        // of laws
	Laws       map[fit.Family]int `json:"laws"`        // fitted ones, by family
	Empirical  int                `json:"empirical"`   // laws that are those of their samples, since the test accepts none
}

// A Regenerate says what was made again.
type Regenerate struct {
	Schema    string             `json:"schema"`
	In        string             `json:"in"`
	Out       string             `json:"out"`
	Format    string             `json:"out_format"`
	Records   Change[uint64]     `json:"records"`
	Intervals int                `json:"intervals"` // of each rank
	Again     int                `json:"regenerated"`
	Drawn     bool               `json:"drawn"` // when intervals begin is drawn from laws; else it is as recorded
	Clock     *document.Clock    `json:"clock"` // null: times of what was kept are as recorded
	Rebuilt   *document.Rebuilt  `json:"rebuilt"`
	Lost      map[string]uint64  `json:"lost"`
	Findings  []document.Finding `json:"findings"`
}

// Describe says what was cut.
func (doc *Reduce) Describe(t *trace.Trace, rules []reduce.Rule, r *reduce.Reduction) {
	doc.Trace = analysis.Trace(t)
	doc.ByRule, doc.Kept = r.ByRule, r.Kept
	for rank, missing := range t.Missing() {
		if !missing {
			doc.Ranks.Before++
			if r.Ranks[rank] {
				doc.Ranks.After++
			}
		}
	}
	for _, rule := range rules {
		doc.Rules = append(doc.Rules, rule.Name())
		if s, ok := rule.(*reduce.Script); ok {
			for _, text := range s.Texts() {
				if text != "" {
					doc.Text += strings.TrimRight(text, "\n") + "\n"
				}
			}
		}
	}
}

// Count says how many records there were and are left, and what measuring them would have cost. They are exact once the reduced trace
// was read.
func (doc *Reduce) Count(t *trace.Trace, r *reduce.Reduction, c *measurement.Costs) {
	doc.Records = Change[uint64]{r.Before, r.After(t)}
	before, after := r.Left(t)
	doc.Model = BufferModel{*c, c.Effect(before, doc.Trace.DurationNs), c.Effect(after, doc.Trace.DurationNs)}
}
