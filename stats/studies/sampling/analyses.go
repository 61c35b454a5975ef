package sampling

import (
	"cmp"
	"slices"

	"tracekit/document/field"
	"tracekit/document/sample"
	"tracekit/document/waitstate"
	"tracekit/stats/numbers"
)

// analyses makes what the sample says of wait states and overhead, beside the truth.
func (r *run) analyses(w *weighing, k int) *sample.Analyses {
	row := func(kind waitstate.Kind, of func(*Sums) moments) sample.AnalysisRow {
		e, all := w.total(of), r.sumsOf(len(r.configs))
		x := sample.AnalysisRow{Messages: r.ns(of(&all).sum), Estimate: numbers.Known(r.nsOf(e.value)), Low: numbers.Known(r.nsOf(e.low)),
			High: numbers.Known(r.nsOf(e.high))}
		if a := r.opts.Analysis; a.WaitStates != nil {
			x.True = a.WaitStates[kind].TimeNs
		}
		return x
	}
	return &sample.Analyses{
		LateSender:   row(waitstate.LateSender, func(s *Sums) moments { return s.LateSender }),
		LateReceiver: row(waitstate.LateReceiver, func(s *Sums) moments { return s.LateReceiver }),
		Overhead:     r.overheadLines(w, k),
	}
}

// overheadLines brings the overhead of sites in the sample and in the analysis together.
func (r *run) overheadLines(w *weighing, k int) []sample.OverheadLineRow {
	o := r.opts.Analysis.Overhead
	if o == nil {
		return nil
	}
	type sum struct {
		messages int64
		estimate float64
	}
	sums := make([]sum, len(r.sites))
	for i, s := range r.streams {
		for n, key := range s.keys {
			if key.send == pooled {
				continue
			}
			all, hit := &s.extras[n*len(s.sums)+len(r.configs)], &s.extras[n*len(s.sums)+k]
			sums[key.send].messages += all.sendOverhead
			sums[key.receive].messages += all.receiveOverhead
			sums[key.send].estimate += w.weights[i] * float64(hit.sendOverhead)
			sums[key.receive].estimate += w.weights[i] * float64(hit.receiveOverhead)
		}
	}
	truth := make(map[sample.SiteRow]int64)
	for i := range o.Lines {
		l := &o.Lines[i]
		truth[sample.SiteRow{Operation: field.Name(l.Operation), SourceLine: l.SourceLine}] += l.OverheadNs
	}
	rows := []sample.OverheadLineRow{}
	for site, s := range sums {
		row := sample.OverheadLineRow{SiteRow: *r.siteRow(uint32(site)), Messages: s.messages}
		if row.True = truth[row.SiteRow]; row.True == 0 || s.messages == 0 {
			continue
		}
		if w.samples > 0 {
			row.Estimate = &s.estimate
		}
		rows = append(rows, row)
	}
	slices.SortStableFunc(rows, func(a, b sample.OverheadLineRow) int {
		return cmp.Or(cmp.Compare(b.True, a.True), cmp.Compare(a.Operation, b.Operation), cmp.Compare(a.File, b.File),
			cmp.Compare(a.Line, b.Line))
	})
	return rows
}
