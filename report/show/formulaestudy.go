package show

import (
	"fmt"

	"tracekit/document/outcome"
	"tracekit/report"
	"tracekit/report/text"
	"tracekit/report/unit"
)

// FormulaeStudy prints what formulae of several traces are worth.
func FormulaeStudy(out *report.Sections, doc *outcome.FormulaeStudy, pictures string) {
	of := func(key, title string, unit unit.Unit, value func(*outcome.StudiedRun) any) report.Column {
		return report.Column{Key: key, Title: title, Unit: unit, Value: report.Of(value)}
	}
	out.Table(&report.Table{Key: "runs", Title: "Formulae of each run", Columns: []report.Column{
		{Key: "path", Title: "run"},
		{Key: "processes", Title: "processes", Unit: unit.Count},
		{Key: "records", Title: "records", Unit: unit.Count},
		{Key: "bytes", Title: "trace", Unit: unit.Bytes},
		of("laws.bytes", "formulae", unit.Bytes, func(r *outcome.StudiedRun) any { return r.Laws.Bytes }),
		of("ratio", "trace to formulae", unit.Number,
			func(r *outcome.StudiedRun) any { return float64(r.Bytes) / float64(max(r.Laws.Bytes, 1)) }),
		of("means.bytes", "with means", unit.Bytes, func(r *outcome.StudiedRun) any { return r.Means.Bytes }),
		of("laws.block_spread_ns", "error", unit.Time, func(r *outcome.StudiedRun) any { return int64(r.Laws.BlockSpread) }),
		of("means.block_spread_ns", "with means", unit.Time, func(r *outcome.StudiedRun) any { return int64(r.Means.BlockSpread) }),
		of("laws.compress_ns", "took", unit.Time, func(r *outcome.StudiedRun) any { return r.Laws.Compress }),
	}}, report.RowsOf(doc.Runs), "Error: 2 √(ln 2) σ of the differences between neighboring records. Took: time to compress by the clock.")
	if pictures != "" {
		fmt.Fprintln(out.W)
		text.Line(out.W, "Pictures: %s", pictures)
	}
	report.PrintFindings(out.W, out.Width, "Findings", doc.Findings)
}
