package query

import (
	"context"
	"slices"

	"tracekit/report/parquet"
	"tracekit/stats/analysis"
	"tracekit/trace"
)

// SourceOf returns the tables of a trace and its analysis. Reading of some decodes the trace, until ctx ends.
func SourceOf(ctx context.Context, t *trace.Trace, a *analysis.Result) Source {
	m := parquet.NewMaker(t, a)
	tables := append(m.Tables(), m.Waits(), m.Visits(ctx), m.Counters(ctx), m.Locations(), m.Regions())
	return Source{Tables: slices.Concat(tables, parquet.DocumentTables(a)), Store: t.Store}
}
