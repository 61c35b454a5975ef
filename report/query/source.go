package query

import (
	"cmp"
	"context"
	"slices"

	"tracekit/document/waitstate"
	"tracekit/report"
	"tracekit/report/parquet"
	"tracekit/stats/analysis"
	"tracekit/trace"
)

// SourceOf returns the tables of a trace and its analysis. Reading of some decodes the trace, until ctx ends.
func SourceOf(ctx context.Context, t *trace.Trace, a *analysis.Result) Source {
	m := parquet.NewMaker(t, a)
	tables := append(m.Tables(), m.Waits(), m.Visits(ctx), m.Intersections(ctx), m.Counters(ctx), m.Locations(), m.Regions())
	return Source{Tables: slices.Concat(tables, parquet.DocumentTables(a)), Store: t.Store, Empty: whyEmpty(t, a),
		Doubts: report.DoubtHeadlines(a.Doubts)}
}

// whyEmpty says why tables and views have no rows, as far as that is known before they are made.
func whyEmpty(t *trace.Trace, a *analysis.Result) map[string]string {
	calls, messages := 0, 0
	waits, late := false, false // any, and other than startup
	for l := range t.Calls {
		calls, messages = calls+t.Calls[l].Len(), messages+t.Sends[l].Len()+t.Recvs[l].Len()
		for i := 0; i < t.Calls[l].Len() && !late; i++ {
			if w := a.Waits[l].At(i); w.Time > 0 {
				waits, late = true, w.Kind != waitstate.AtStartup
			}
		}
	}
	why := make(map[string]string)
	none := func(is bool, reason string, names ...string) {
		for _, n := range names {
			if is {
				why[n] = reason
			}
		}
	}
	none(calls == 0, "the trace records no communication calls.", "calls", "rank_summary")
	none(messages == 0, "the trace records no messages.", "messages", "comm_matrix", "message_sizes")
	none(t.Collectives.Len() == 0, "the trace records no collectives.", "collectives", "members", "collective_skew", "last_arrivals")
	none(len(a.Devices) == 0, "the trace records no device.", "devices", "streams", "kernels", "overlap", "kernel_summary", "bubbles")
	none(a.Threads == nil, "the trace records no teams of threads.", "threads")
	none(a.Training == nil, "the trace has no steps of a training job.", "workers")
	ranks, several := make(map[uint32]bool), false // of locations with events
	for l, r := range t.Rank {
		if t.Span[l].Events > 0 && r != trace.None {
			several = several || ranks[r]
			ranks[r] = true
		}
	}
	none(!several, "no rank has events of several locations.", "intervals_intersect")
	none(len(t.Defs.MetricMembers) == 0, "the trace records no counters.", "counters")

	none(waits && !late, "ranks wait for each other at startup only.", "late_ranks", "late_places")
	reason := cmp.Or(report.WhyNoWaits(t), "no rank waits for another one") + "."
	if a.Training != nil {
		reason += " Table workers shows slow workers."
	}
	if a.Threads != nil {
		reason += " Table threads shows waits of threads."
	}
	none(!waits, reason, "waits", "wait_states", "late_ranks", "late_places")
	if waits && a.Delays == nil {
		reason = "to find where waits originate needs the whole trace."
	}
	none(len(a.Delays) == 0, reason, "delays", "delays_by_rank")
	return why
}
