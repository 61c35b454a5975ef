package parquet

import (
	"tracekit/readers/arrowdir"
	"tracekit/report"
	"tracekit/stats/analysis"
)

// DocumentTables returns tables of blocks of the document that have rows of their own: what makes others wait, the critical path by
// place, and the workers of a training job.
func DocumentTables(a *analysis.Result) []arrowdir.Table {
	document := report.Row{&a.Analysis}
	place := []string{"region text", "file text", "line", "line_of text", "operation text"}
	return []arrowdir.Table{
		tableOf("delays", document.Below("delays[]"), place, []string{"total_ns", "short_ns", "long_ns", "most_rank", "most_rank_ns"}),
		tableOf("critical_path", document.Below("critical_path.regions[]"), place, []string{"time_ns", "share real", "imbalance_ns"}),
		tableOf("workers", document.Below("training.by_worker[]"), []string{"rank", "dp_rank", "tp_rank", "stage", "slowdown real", "excess real",
			"pattern text", "slow_steps", "gain_ns"}),
	}
}
