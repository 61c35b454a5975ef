package outcome

import (
	"strings"

	"tracekit/document"
	"tracekit/document/field"
	"tracekit/reconstruct/difference"
	"tracekit/stats/compare"
	"tracekit/trace"
)

// A Compare says how two sides differ. Times are in ns; A and B are the first runs.
type Compare struct {
	Schema   string             `json:"schema"`
	Baseline string             `json:"baseline,omitempty"` // file with the runs of A; "": they were read
	A        document.TraceInfo `json:"a"`
	B        document.TraceInfo `json:"b"`
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

// NewCompare makes the document of a comparison without records, of the runs that it compares.
func NewCompare(a, b []*compare.Sample, c *compare.Comparison) *Compare {
	doc := &Compare{Schema: "tracekit.compare/1", A: a[0].Trace, B: b[0].Trace, Comparison: c, Results: []ResultChange{},
		FindingsA: findingsOf(a), FindingsB: findingsOf(b)}
	doc.addResults(a[0], b[0])
	return doc
}

func findingsOf(runs []*compare.Sample) []document.Finding {
	out := []document.Finding{}
	for _, r := range runs {
		out = append(out, r.Findings...)
	}
	return out
}

// addResults lists the headline numbers of both analyses. The ratios of efficiency are Efficiencies, but for that of the whole run.
func (doc *Compare) addResults(a, b *compare.Sample) {
	const efficiency = "efficiency.parallel_efficiency"
	for _, name := range compare.FigureNames() {
		x, inA := a.Figures[name]
		y, inB := b.Figures[name]
		wait := strings.HasPrefix(name, "wait_states.")
		ratio := strings.Contains(name, "efficiency.") && name != efficiency
		switch zero := new(float64); {
		case !inA || !inB || ratio, x == nil && y == nil, !wait && (x == nil || y == nil):
			continue
		case x == nil: // a wait state that does not occur
			x = zero
		case y == nil:
			y = zero
		}
		r := ResultChange{Name: name, A: *x, B: *y, ModelledA: wait && a.Trace.Rebuilt != nil, ModelledB: wait && b.Trace.Rebuilt != nil}
		if *x != 0 {
			change := (*y - *x) / *x
			r.Change = &change
		}
		doc.Results = append(doc.Results, r)
	}
}

// Records say how two traces differ record by record, as the AIMS paper does (DEFINITIONS
// 1.4). Differences are B - A, in ns.
type Records struct {
	Paired   *PairedRecords `json:"records,omitempty"`  // nil: not asked for
	Position *Spread        `json:"position,omitempty"` // nil: no record is paired
	Block    *Spread        `json:"block,omitempty"`
	Quality  *Quality       `json:"quality,omitempty"`

	// Statistics compares both runs and what is rebuilt of each, in four rows; missing: not asked for.
	Statistics []QualityRow `json:"statistics,omitempty"`

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

// A QualityRow says how much two of four traces differ: the events of two runs, and what is rebuilt from the statistics of each. Factors
// are the spread of the two runs, divided by that of the row.
type QualityRow struct {
	A              string   `json:"a"` // event 1, event 2, stat 1, stat 2
	B              string   `json:"b"`
	Paired         uint64   `json:"paired"`
	OnlyA          uint64   `json:"only_a"`
	OnlyB          uint64   `json:"only_b"`
	PositionSpread float64  `json:"position_spread_ns"` // 2 √(ln 2) σ
	BlockSpread    float64  `json:"block_spread_ns"`
	PositionFactor *float64 `json:"position_factor"` // null: the row has no spread
	BlockFactor    *float64 `json:"block_factor"`
}

// NewQualityRow makes a row of two traces, of which the differences are known, beside those of the two runs.
func NewQualityRow(a, b string, runs, d *difference.Differences) QualityRow {
	return QualityRow{a, b, d.Paired, d.OnlyA, d.OnlyB, d.Position.Spread(), d.Block.Spread(),
		factor(runs.Position.Spread(), d.Position.Spread()), factor(runs.Block.Spread(), d.Block.Spread())}
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
