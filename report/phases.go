package report

import (
	"cmp"
	"fmt"
	"slices"

	"tracekit/document"
	"tracekit/document/words"
)

// phases prints the iterations of the program: those that are far from the others first, then
// the longest.
func (r *Sections) phases() {
	p := r.Analysis.Phases
	if p == nil {
		return
	}
	site := p.Operation
	if place := r.place(p.SourceLine); place != "" {
		site += ", " + place
	}
	next := "the next"
	if p.Every > 1 {
		next = fmt.Sprintf("the one %d such calls later", p.Every)
	}
	far := "no outliers"
	if p.Outliers > 0 {
		far = words.Plural(p.Outliers, "outlier stands", "outliers stand") + " first"
	}
	note := fmt.Sprintf("%s last %s in the median, %s to %s; %s. Wall time, a mean over ranks. --phase selects one.",
		words.Plural(p.Count, "phase", "phases"), words.Time(p.Period.P50), words.Time(p.Period.Min), words.Time(p.Period.Max), far)
	if slices.ContainsFunc(p.Rows, func(x document.PhaseRow) bool {
		return x.CommunicationEfficiency != nil && *x.CommunicationEfficiency > 1
	}) {
		note += " Communication is above 100 % where ranks are in a phase at different times, some longer than the mean."
	}
	rows := slices.Clone(p.Rows)
	slices.SortStableFunc(rows, func(a, b document.PhaseRow) int {
		if a.Outlier != b.Outlier {
			if a.Outlier {
				return -1
			}
			return 1
		}
		return cmp.Compare(b.DurationNs, a.DurationNs)
	})
	r.Show(r.begin(phases, fmt.Sprintf(", from one %s to %s", site, next), RowsOf(rows), note))
}
