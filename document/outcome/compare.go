package outcome

import (
	"slices"

	"tracekit/document"
	"tracekit/document/field"
	"tracekit/reconstruct/difference"
	"tracekit/stats/analysis"
	"tracekit/stats/compare"
	"tracekit/trace"
)

// A Compare says how two sides differ. Times are in ns; A and B are the first runs.
type Compare struct {
	Schema string             `json:"schema"`
	A      document.TraceInfo `json:"a"`
	B      document.TraceInfo `json:"b"`
	*compare.Comparison
	Records
	Results []ResultChange `json:"results"`

	FindingsA []document.Finding `json:"findings_a"` // of all runs of A
	FindingsB []document.Finding `json:"findings_b"`
}

// A ResultChange is one number of both analyses, named by its path in their documents.
type ResultChange struct {
	Name   string   `json:"name"`
	A      float64  `json:"a"`
	B      float64  `json:"b"`
	Change *float64 `json:"change"` // (B - A) / A; null if A is 0

	// What a model made of a trace that was rebuilt; see document.Rebuilt.
	ModelledA bool `json:"modelled_a"`
	ModelledB bool `json:"modelled_b"`
}

// NewCompare makes the document of a comparison without records.
func NewCompare(a, b *analysis.Result, c *compare.Comparison) *Compare {
	doc := &Compare{Schema: "tracekit.compare/1", A: a.Trace, B: b.Trace, Comparison: c, Results: []ResultChange{},
		FindingsA: slices.Concat([]document.Finding{}, a.Findings), FindingsB: slices.Concat([]document.Finding{}, b.Findings)}
	doc.addResults(a, b)
	return doc
}

// addResults lists the headline numbers of both analyses.
func (doc *Compare) addResults(a, b *analysis.Result) {
	add := func(name string, x, y float64) {
		c := ResultChange{Name: name, A: x, B: y}
		if x != 0 {
			r := (y - x) / x
			c.Change = &r
		}
		doc.Results = append(doc.Results, c)
	}
	add("trace.duration_ns", float64(a.Trace.DurationNs), float64(b.Trace.DurationNs))
	add("trace.events", float64(a.Trace.Events), float64(b.Trace.Events))
	if x, y := a.Efficiency, b.Efficiency; x != nil && y != nil && x.ParallelEfficiency != nil && y.ParallelEfficiency != nil {
		add("efficiency.parallel_efficiency", *x.ParallelEfficiency, *y.ParallelEfficiency)
	}
	if x, y := a.Counters, b.Counters; x != nil && y != nil {
		for _, c := range []struct {
			name string
			x, y *float64
		}{{"instructions", x.Instructions, y.Instructions}, {"ipc", x.IPC, y.IPC}, {"frequency_ghz", x.FrequencyGHz, y.FrequencyGHz}} {
			if c.x != nil && c.y != nil {
				add("counters."+c.name, *c.x, *c.y)
			}
		}
	}
	if x, y := a.Messages, b.Messages; x != nil && y != nil {
		add("messages.count", float64(x.Count), float64(y.Count))
		add("messages.bytes", float64(x.Bytes), float64(y.Bytes))
	}
	if x, y := a.WaitStates, b.WaitStates; x != nil && y != nil {
		first := len(doc.Results)
		for k, w := range x.All {
			if other := &y[k]; w.Count+other.Count > 0 {
				add("wait_states."+k.Info().Key+".time_ns", float64(w.TimeNs), float64(other.TimeNs))
			}
		}
		for i := range doc.Results[first:] {
			r := &doc.Results[first+i]
			r.ModelledA, r.ModelledB = a.Trace.Rebuilt != nil, b.Trace.Rebuilt != nil
		}
	}
}

// Records say how two traces differ record by record, as the AIMS paper does (DEFINITIONS
// 1.4). Differences are B - A, in ns.
type Records struct {
	Paired   *PairedRecords `json:"records,omitempty"`  // nil: not asked for
	Position *Spread        `json:"position,omitempty"` // nil: no record is paired
	Block    *Spread        `json:"block,omitempty"`
	Quality  *Quality       `json:"quality,omitempty"`

	Differences *difference.Differences `json:"-"` // of Paired
}

// PairedRecords counts the records; First are places of the first ones without a partner.
type PairedRecords struct {
	Paired uint64       `json:"paired"`
	OnlyA  uint64       `json:"only_a"`
	OnlyB  uint64       `json:"only_b"`
	FirstA *field.Place `json:"first_a"`
	FirstB *field.Place `json:"first_b"`
}

// A Spread describes a distribution of differences.
type Spread struct {
	Count  uint64  `json:"count"`
	Min    int64   `json:"min_ns"`
	Mean   float64 `json:"mean_ns"`
	Max    int64   `json:"max_ns"`
	Sigma  float64 `json:"sigma_ns"`
	Spread float64 `json:"spread_ns"` // 2 √(ln 2) σ
	FWHM   float64 `json:"fwhm_ns"`   // 2 √(2 ln 2) σ
}

// Quality holds the quality factors against a repeated run; null if B has no spread.
type Quality struct {
	Repeat         string   `json:"repeat"`
	PositionSpread float64  `json:"position_spread_ns"` // of the repeated run
	BlockSpread    float64  `json:"block_spread_ns"`
	PositionFactor *float64 `json:"position_factor"`
	BlockFactor    *float64 `json:"block_factor"`
}

// factor returns reference/spread as the paper's table 6 computes it, nil if there is no
// spread to divide by.
func factor(reference, spread float64) *float64 {
	if spread == 0 {
		return nil
	}
	f := reference / spread
	return &f
}

func placeOf(p *trace.Place) *field.Place {
	if p == nil {
		return nil
	}
	l := uint32(p.Location)
	return &field.Place{Location: &l, Seq: p.Seq}
}

func spreadOf(d *difference.Distribution) *Spread {
	if d.N == 0 {
		return nil
	}
	return &Spread{Count: d.N, Min: d.Min, Mean: d.Mean(), Max: d.Max, Sigma: d.Sigma(), Spread: d.Spread(), FWHM: d.FWHM()}
}

// NewRecords makes the document of differences.
func NewRecords(d *difference.Differences) Records {
	return Records{
		Paired:   &PairedRecords{Paired: d.Paired, OnlyA: d.OnlyA, OnlyB: d.OnlyB, FirstA: placeOf(d.FirstA), FirstB: placeOf(d.FirstB)},
		Position: spreadOf(d.Position), Block: spreadOf(d.Block), Differences: d,
	}
}

// NewQuality makes quality factors from what B, and a repeated run at a path, differ from A by.
func NewQuality(path string, repeated, b *difference.Differences) *Quality {
	return &Quality{path, repeated.Position.Spread(), repeated.Block.Spread(), factor(repeated.Position.Spread(), b.Position.Spread()),
		factor(repeated.Block.Spread(), b.Block.Spread())}
}
