package parquet

import (
	"tracekit/document/field"
	"tracekit/readers/arrowdir"
	"tracekit/report"
	"tracekit/stats/analysis"
)

// DocumentTables returns tables of blocks of the document that have rows of their own: what makes others wait, also by rank, the critical
// path by place, and the workers of a training job.
func DocumentTables(a *analysis.Result) []arrowdir.Table {
	document := report.Row{&a.Analysis}
	var ranks []report.Row
	for i := range a.Delays {
		d := &a.Delays[i]
		for k, of := range d.Ranks {
			ranks = append(ranks, report.Row{&delayOfRank{of.Rank, of.TimeNs, d.StartupNs[k]}, d})
		}
	}
	place := []string{"region text", "file text", "line", "line_of text", "operation text"}
	return []arrowdir.Table{
		tableOf("delays", document.Below("delays[]"), place, []string{"total_ns", "short_ns", "long_ns", "most_rank", "most_rank_ns"}),
		tableOf("delays_by_rank", ranks, place, []string{"rank", "time_ns", "startup_ns"}),
		tableOf("critical_path", document.Below("critical_path.regions[]"), place, []string{"time_ns", "share real", "imbalance_ns"}),
		tableOf("workers", document.Below("training.by_worker[]"), []string{"rank", "dp_rank", "tp_rank", "stage", "slowdown real", "excess real",
			"pattern text", "slow_steps", "gain_ns"}),
	}
}

// A delayOfRank is what others wait for a place on one rank, and what of that are waits at startup.
type delayOfRank struct {
	Rank      field.Rank `json:"rank"`
	TimeNs    int64      `json:"time_ns"`
	StartupNs int64      `json:"startup_ns"`
}
