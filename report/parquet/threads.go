package parquet

import (
	"tracekit/readers/arrowdir"
	"tracekit/stats/analysis"
)

// threadTables returns the table of what each thread does; none where threads are not told apart.
func threadTables(a *analysis.Result) []arrowdir.Table {
	if a.Threads == nil {
		return nil
	}
	names := newNameList()
	for i := range a.Threads.Rows {
		names.of(string(a.Threads.Rows[i].Name))
	}
	columns := append(integers("rank", "thread", "location"), arrowdir.TableColumn{Name: "name", Names: names.names})
	columns = append(columns, integers("useful_ns", "communication_ns", "barrier_ns", "waiting_ns", "scheduling_ns", "measurement_ns", "idle_ns",
		"serial_ns", "team_wait_ns")...)
	return []arrowdir.Table{{Name: "threads", Columns: columns, Fill: func(r *arrowdir.Rows) {
		for i := range a.Threads.Rows {
			t := &a.Threads.Rows[i]
			r.ID(t.Rank).Int(int64(t.Thread)).ID(t.Location).Name(names.of(string(t.Name)))
			for _, ns := range []int64{t.UsefulNs, t.CommunicationNs, t.BarrierNs, t.WaitingNs, t.SchedulingNs, t.MeasurementNs, t.IdleNs, t.SerialNs, t.TeamWaitNs} {
				r.Int(ns)
			}
			if !r.End() {
				return
			}
		}
	}}}
}
