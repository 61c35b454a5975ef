package parquet

import (
	"tracekit/readers/arrowdir"
	"tracekit/report"
	"tracekit/stats/analysis"
)

// threadTables returns the table of what each thread does, which has no rows where threads are not told apart.
func threadTables(a *analysis.Result) []arrowdir.Table {
	rows := report.Row{&a.Analysis}.Below("threads.rows[]")
	return []arrowdir.Table{tableOf("threads", rows, []string{"rank", "thread", "location", "name text", "useful_ns",
		"communication_ns", "barrier_ns", "waiting_ns", "scheduling_ns", "measurement_ns", "idle_ns", "serial_ns", "team_wait_ns"})}
}
