package show

import (
	"fmt"

	"tracekit/document/words"
	"tracekit/report"
	"tracekit/report/unit"
	"tracekit/stats/studies/sampling"
)

// printSweep prints how accurate configurations of a sweep are, and what they cost.
func printSweep(r *report.Sections, s *sampling.Sweep) {
	if s == nil {
		return
	}
	held := func(e *sampling.SweptError) any {
		if e == nil || e.Given == 0 {
			return "-"
		}
		return words.Share(float64(e.Held) / float64(e.Given))
	}
	within := func(e *sampling.SweptError) *float64 {
		if e == nil {
			return nil
		}
		return e.Within
	}
	name := report.Column{Key: "configuration", Title: "configuration"}
	r.Table(&report.Table{Key: "sweep", Title: "Sweep: accuracy", Columns: []report.Column{
		name,
		{Key: "share", Title: "sampled", Unit: unit.Share},
		{Key: "coverage.categories", Title: "categories", Unit: unit.Share},
		{Key: "messages.within", Title: "messages", Unit: unit.Share},
		{Key: "bytes.within", Title: "bytes", Unit: unit.Share},
		{Key: "latency.within", Title: "latency", Unit: unit.Share},
		{Title: "counted", Unit: unit.Share, Value: report.Of(func(x *sampling.SweepRow) any { return within(x.Counted) })},
		{Title: "hold: messages", Unit: unit.Remarks, Value: report.Of(func(x *sampling.SweepRow) any { return held(&x.Messages) })},
		{Title: "bytes", Unit: unit.Remarks, Value: report.Of(func(x *sampling.SweepRow) any { return held(&x.Bytes) })},
		{Title: "latency", Unit: unit.Remarks, Value: report.Of(func(x *sampling.SweepRow) any { return held(&x.Latency) })},
		{Title: "counted", Unit: unit.Remarks, Value: report.Of(func(x *sampling.SweepRow) any { return held(x.Counted) })},
		{Key: "unexpected", Title: "unexpected", Unit: unit.Share},
	}}, report.RowsOf(s.Rows), fmt.Sprintf("Errors: 95 %% of %d seeds stay within. Counted: latency if ranks count their sends. Hold: share "+
		"of 95 %% "+
		"intervals with the truth. Unexpected: sampled messages sent before their receives were posted (of all messages: %s).", s.Seeds,
		words.ShareOrDash(s.Unexpected)))
	r.Table(&report.Table{Key: "sweep_costs", Title: "Sweep: cost", Columns: []report.Column{
		name,
		{Title: "small message", Unit: unit.Remarks, Value: report.Of(func(x *sampling.SweepRow) any { return microseconds(x.LatencyUs) })},
		{Title: "in the paper", Unit: unit.Remarks, Value: report.Of(func(x *sampling.SweepRow) any {
			if x.PaperUs == nil {
				return "-"
			}
			return microseconds(*x.PaperUs)
		})},
		{Key: "run_time_ns", Title: "run time", Unit: unit.Time},
		{Title: "longer", Unit: unit.Remarks, Value: report.Of(func(x *sampling.SweepRow) any {
			if x.Slowdown == nil {
				return "-"
			}
			return "+" + words.Share(*x.Slowdown-1)
		})},
		{Key: "sampled_bytes", Title: "data", Unit: unit.Bytes},
		{Key: "of_trace", Title: "of the trace", Unit: unit.Share},
	}}, report.RowsOf(s.Rows), fmt.Sprintf("Run time as recorded: %s. Data: what all ranks keep; the trace has %s.", words.Time(s.RunTime),
		words.Bytes(uint64(s.TraceBytes))))
}
