package scaling

import (
	"cmp"
	"math"
	"slices"

	"tracekit/document"
	"tracekit/document/field"
	"tracekit/stats/analysis"
)

// Overheads say what MPI calls need and what they take beyond that, in each size: tables 1 and 2 of M. Kluge, A. Knüpfer, W. E. Nagel,
// "Statistical Methods for Automatic Performance Bottleneck Detection in MPI Based Programs", ICCS 2005.
type Overheads struct {
	Source   string          `json:"source"` // of t_max, as document.Overhead.Source
	Quantile float64         `json:"quantile"`
	Sizes    []OverheadAt    `json:"sizes"` // of all lines together; they have no verdict
	Lines    []OverheadPlace `json:"lines"` // the most overhead in the largest size first
}

// An OverheadPlace is an MPI function called from a source line.
type OverheadPlace struct {
	field.SourceLine
	Operation string        `json:"operation"`
	Sizes     []*OverheadAt `json:"sizes"` // null: no run of the size calls it
}

// OverheadAt is the overhead in one size, the mean over its runs. Necessary and overhead add up to the total.
type OverheadAt struct {
	Processes       int      `json:"processes"`
	Calls           uint64   `json:"calls"`
	TotalNs         int64    `json:"total_ns"`
	NecessaryNs     int64    `json:"necessary_ns"`
	OverheadNs      int64    `json:"overhead_ns"`
	LatePartnerNs   int64    `json:"late_partner_ns"` // of the overhead
	Share           *float64 `json:"share"`           // overhead in the total
	UnreliableCalls uint64   `json:"unreliable_calls"`

	// Verdict is that of the line's pair with the most overhead, as document.OverheadPair says it, in the last run of the size; empty if
	// no messages of the line have overhead.
	Verdict string `json:"verdict,omitempty"`
	ByWaits bool   `json:"by_waits,omitempty"`
	Reason  string `json:"reason,omitempty"`
}

// Unreliable says that most calls are held to thresholds that cannot be trusted.
func (o *OverheadAt) Unreliable() bool { return 2*o.UnreliableCalls > o.Calls }

type overheadKey struct {
	at        field.SourceLine
	operation string
}

// overheads joins the overheads of runs by source line; nil if a run has none.
func overheads(bySize [][]*analysis.Result) *Overheads {
	first := bySize[0][0].Overhead
	if first == nil {
		return nil
	}
	all := &Overheads{Source: first.Source, Quantile: first.Quantile, Sizes: make([]OverheadAt, len(bySize)), Lines: []OverheadPlace{}}
	places := make(map[overheadKey]*OverheadPlace)
	var order []*OverheadPlace
	for size, runs := range bySize {
		all.Sizes[size].Processes = runs[0].Trace.Processes
		for _, run := range runs {
			if run.Overhead == nil {
				return nil
			}
			for i := range run.Overhead.Lines {
				l := &run.Overhead.Lines[i]
				key := overheadKey{l.SourceLine, l.Operation}
				if places[key] == nil {
					places[key] = &OverheadPlace{SourceLine: l.SourceLine, Operation: l.Operation, Sizes: make([]*OverheadAt, len(bySize))}
					order = append(order, places[key])
				}
				at := places[key].Sizes[size]
				if at == nil {
					at = &OverheadAt{Processes: runs[0].Trace.Processes}
					places[key].Sizes[size] = at
				}
				at.add(l)
				all.Sizes[size].add(l)
				at.judge(run.Overhead.Pairs, key)
			}
		}
		all.Sizes[size].mean(len(runs))
		for _, p := range order {
			if at := p.Sizes[size]; at != nil {
				at.mean(len(runs))
			}
		}
	}
	last := len(bySize) - 1
	slices.SortStableFunc(order, func(a, b *OverheadPlace) int {
		return cmp.Or(cmp.Compare(b.overhead(last), a.overhead(last)), cmp.Compare(a.Operation, b.Operation))
	})
	for _, p := range order {
		all.Lines = append(all.Lines, *p)
	}
	return all
}

func (o *OverheadAt) add(l *document.OverheadLine) {
	o.Calls += l.Calls
	o.TotalNs += l.TotalNs
	o.OverheadNs += l.OverheadNs
	o.LatePartnerNs += l.LatePartnerNs
	o.UnreliableCalls += l.UnreliableCalls
}

// judge takes the verdict of the first pair that has the line at one of its ends: pairs lie with the most overhead first.
func (o *OverheadAt) judge(pairs []document.OverheadPair, key overheadKey) {
	is := func(end document.PairEnd) bool {
		return end.SourceLine == key.at && string(end.Operation) == key.operation
	}
	o.Verdict, o.ByWaits, o.Reason = "", false, ""
	for _, p := range pairs {
		if (is(p.Send) || is(p.Receive)) && p.Verdict != "none" {
			o.Verdict, o.ByWaits, o.Reason = p.Verdict, p.ByWaits, p.Reason
			return
		}
	}
}

// mean divides sums over runs.
func (o *OverheadAt) mean(runs int) {
	over := func(ns int64) int64 { return int64(math.Round(float64(ns) / float64(runs))) }
	o.Calls /= uint64(runs)
	o.UnreliableCalls /= uint64(runs)
	o.TotalNs, o.OverheadNs, o.LatePartnerNs = over(o.TotalNs), over(o.OverheadNs), over(o.LatePartnerNs)
	o.NecessaryNs = o.TotalNs - o.OverheadNs
	if o.TotalNs > 0 {
		share := float64(o.OverheadNs) / float64(o.TotalNs)
		o.Share = &share
	}
}

func (p *OverheadPlace) overhead(size int) int64 {
	if p.Sizes[size] == nil {
		return 0
	}
	return p.Sizes[size].OverheadNs
}
