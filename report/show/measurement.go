package show

import (
	"fmt"
	"strings"

	"tracekit/document/outcome"
	"tracekit/document/words"
	"tracekit/report"
	"tracekit/report/unit"
)

// MeasuredRuns prints several runs with what measuring costs.
func MeasuredRuns(out *report.Sections, doc *outcome.Whatif) {
	out.Table(&report.Table{Key: "runs", Title: "Run time with " + strings.Join(doc.Changes, ", "), Columns: []report.Column{
		{Key: "path", Title: "run"},
		{Key: "processes", Title: "processes", Unit: unit.Count},
		{Key: "records", Title: "records", Unit: unit.Count},
		{Key: "bytes", Title: "data", Unit: unit.Bytes},
		{Key: "baseline_ns", Title: "as recorded", Unit: unit.Time},
		{Key: "predicted_ns", Title: "with it", Unit: unit.Time},
		{Title: "change", Unit: unit.Remarks, Value: report.Of(func(r *outcome.MeasuredRun) any {
			if r.Share == nil {
				return "-"
			}
			return signedShare(*r.Share)
		})},
		{Key: "unremoved_ns", Title: "not removed", Unit: unit.Time},
	}}, report.RowsOf(doc.Runs), "Replayed: costs pass through all waits. Data: records times their size in the model.")
	if doc.Picture != "" {
		fmt.Fprintf(out.W, "\nPicture: %s\n", doc.Picture)
	}
}

// unremovedNote says what of the costs could not be removed.
func unremovedNote(doc *outcome.Whatif) string {
	if doc.Unremoved == 0 {
		return ""
	}
	return words.Time(doc.Unremoved) +
		" of these costs, over all ranks, were not removed: the trace has no time to take them from. The costs are probably smaller."
}
