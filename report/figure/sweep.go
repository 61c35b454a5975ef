package figure

import (
	"tracekit/plots"
	"tracekit/stats/studies/sampling"
)

// sweepPlots returns the pictures of a sweep by name: what is estimated how well, what is seen, and what it costs, over the share of
// messages that are sampled.
func sweepPlots(title string, s *sampling.Sweep) map[string]plots.CurvesData {
	share := plots.Axis{Label: "messages sampled", Unit: plots.Share, Log: true}
	draw := func(what string, y plots.Axis, series ...plots.Series) plots.CurvesData {
		return plots.CurvesData{Title: what + ": " + title, X: share, Y: y, Series: series}
	}
	of := func(name, strategy string, value func(*sampling.SweepRow) *float64) plots.Series {
		x := plots.Series{Name: name}
		for i := range s.Rows {
			row := &s.Rows[i]
			if row.Settings.Strategy != strategy || row.Share == 0 {
				continue
			}
			if v := value(row); v != nil {
				x.X, x.Y = append(x.X, row.Share), append(x.Y, *v)
			}
		}
		return x
	}
	both := func(value func(*sampling.SweepRow) *float64) []plots.Series {
		return []plots.Series{of("random, P-t", "random", value), of("counter, C-n", "counter", value)}
	}
	runTime := func(x *sampling.SweepRow) *float64 {
		if x.RunTime == nil {
			return nil
		}
		ns := float64(*x.RunTime)
		return &ns
	}
	within := plots.Axis{Label: "error that 95 % of seeds stay within", Unit: plots.Share, Log: true}
	errors := draw("Errors of estimates", within,
		of("messages, P-t", "random", func(x *sampling.SweepRow) *float64 { return x.Messages.Within }),
		of("bytes, P-t", "random", func(x *sampling.SweepRow) *float64 { return x.Bytes.Within }),
		of("latency, P-t", "random", func(x *sampling.SweepRow) *float64 { return x.Latency.Within }),
		of("latency, P-t, sends counted", "random", func(x *sampling.SweepRow) *float64 { return x.Counted.Within }),
		of("bytes, C-n", "counter", func(x *sampling.SweepRow) *float64 { return x.Bytes.Within }),
		of("latency, C-n", "counter", func(x *sampling.SweepRow) *float64 { return x.Latency.Within }))
	shares := draw("Largest error of a category's share", plots.Axis{Label: "of all messages", Unit: plots.Share},
		both(func(x *sampling.SweepRow) *float64 { return x.ShareError })...)
	seen := draw("Categories of messages that are seen", plots.Axis{Label: "of all categories", Unit: plots.Share},
		both(func(x *sampling.SweepRow) *float64 { return x.Coverage.Categories })...)
	unexpected := draw("Messages sent before their receives were posted", plots.Axis{Label: "of the sampled messages", Unit: plots.Share},
		both(func(x *sampling.SweepRow) *float64 { return x.Unexpected })...)
	if s.Unexpected != nil {
		unexpected.Levels = []plots.Mark{{Name: "of all messages", Value: *s.Unexpected}}
	}
	latency := draw("Latency of a small message", plots.Axis{Label: "µs"},
		both(func(x *sampling.SweepRow) *float64 { return &x.LatencyUs })...)
	paper := plots.Series{Name: "measured in the paper"}
	for i := range s.Rows {
		if row := &s.Rows[i]; row.PaperUs != nil && row.Share > 0 {
			paper.DotX, paper.DotY = append(paper.DotX, row.Share), append(paper.DotY, *row.PaperUs)
		}
	}
	if paper.DotX != nil {
		latency.Series = append(latency.Series, paper)
	}
	run := draw("Run time with sampling", plots.Axis{Label: "run time", Unit: plots.Nanoseconds}, both(runTime)...)
	run.Levels = []plots.Mark{{Name: "as recorded", Value: float64(s.RunTime)}}
	bytes := func(x *sampling.SweepRow) *float64 { b := float64(x.SampledBytes); return &b }
	volume := draw("What sampling keeps", plots.Axis{Label: "data of all ranks", Unit: plots.Bytes, Log: true}, both(bytes)...)
	if s.TraceBytes > 0 {
		volume.Levels = []plots.Mark{{Name: "the trace with all messages", Value: float64(s.TraceBytes)}}
	}
	return map[string]plots.CurvesData{"sweep-errors": errors, "sweep-shares": shares, "sweep-categories": seen,
		"sweep-unexpected": unexpected, "sweep-latency": latency, "sweep-run-time": run, "sweep-volume": volume}
}
