package parquet

import (
	"cmp"
	"slices"

	"tracekit/document/field"
	"tracekit/document/waitstate"
	"tracekit/readers/arrowdir"
	"tracekit/report"
	"tracekit/stats/analysis"
)

// DocumentTables returns tables of blocks of the document that have rows of their own: what makes others wait, also by rank, first what
// does so most after startup; the critical path by place; and the workers of a training job.
func DocumentTables(a *analysis.Result) []arrowdir.Table {
	document := report.Row{&a.Analysis}
	var delays, ranks []report.Row
	rows := slices.Clone(a.Delays)
	after := func(d *waitstate.Delay) int64 { return d.TotalNs - d.By[waitstate.AtStartup] }
	slices.SortStableFunc(rows, func(a, b waitstate.Delay) int { return cmp.Compare(after(&b), after(&a)) })
	for i := range rows {
		d := &rows[i]
		delays = append(delays, report.Row{&delayAtStartup{d.By[waitstate.AtStartup]}, d})
		for k, of := range d.Ranks {
			ranks = append(ranks, report.Row{&delayOfRank{of.Rank, of.TimeNs, d.StartupNs[k]}, d})
		}
	}
	place := []string{"region text", "file text", "line", "line_of text", "operation text"}
	return []arrowdir.Table{
		tableOf("delays", delays, place, []string{"total_ns", "startup_ns", "short_ns", "long_ns", "most_rank", "most_rank_ns"}),
		tableOf("delays_by_rank", ranks, place, []string{"rank", "time_ns", "startup_ns"}),
		tableOf("critical_path", document.Below("critical_path.regions[]"), place, []string{"time_ns", "share real", "imbalance_ns"}),
		tableOf("workers", document.Below("training.by_worker[]"), []string{"rank", "dp_rank", "tp_rank", "stage", "slowdown real", "excess real",
			"pattern text", "slow_steps", "gain_ns"}),
	}
}

// delayAtStartup are what of the waits for a place are those at startup.
type delayAtStartup struct {
	StartupNs int64 `json:"startup_ns"`
}

// A delayOfRank is what others wait for a place on one rank, and what of that are waits at startup.
type delayOfRank struct {
	Rank      field.Rank `json:"rank"`
	TimeNs    int64      `json:"time_ns"`
	StartupNs int64      `json:"startup_ns"`
}
