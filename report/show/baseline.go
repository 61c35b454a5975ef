package show

import (
	"cmp"
	"fmt"

	"tracekit/document/words"
	"tracekit/report"
	"tracekit/report/text"
	"tracekit/report/unit"
	"tracekit/stats/compare"
)

// A keptRun is a row of the runs of a baseline.
type keptRun struct {
	run  *compare.Run
	time float64
}

var keptRuns = &report.Table{Key: "runs", Title: "Runs", Columns: []report.Column{
	{Title: "run", Value: report.Of(func(r *keptRun) any { return r.run.Trace.Path })},
	{Title: "run time", Unit: unit.Remarks, Value: report.Of(func(r *keptRun) any { return words.Time(r.run.Trace.DurationNs) })},
	{Title: "all ranks", Unit: unit.Remarks, Value: report.Of(func(r *keptRun) any { return words.Nanoseconds(r.time) })},
	{Title: "parallel efficiency", Unit: unit.Remarks, Value: report.Of(func(r *keptRun) any {
		return words.ShareOrDash(cmp.Or(r.run.Figures["efficiency.without_init_finalize.parallel_efficiency"],
			r.run.Figures["efficiency.parallel_efficiency"]))
	})},
}}

var keptPlaces = &report.Table{Key: "places", Title: "Places: means over runs, sums over ranks, the largest first",
	Note: "±: standard deviation of a run.", Columns: []report.Column{
		{Title: "place", Value: report.Of(func(p *compare.PlaceSummary) any { return words.Place(p.SourceLine) })},
		{Title: "operation", Value: report.Of(func(p *compare.PlaceSummary) any { return cmp.Or(string(p.Operation), "(outside MPI)") })},
		{Title: "own time", Unit: unit.Remarks, Value: report.Of(func(p *compare.PlaceSummary) any { return words.Nanoseconds(p.OwnNs) })},
		{Title: "±", Unit: unit.Remarks, Value: report.Of(func(p *compare.PlaceSummary) any { return words.ShareOrDash(p.OwnSpread) })},
		{Title: "wait", Unit: unit.Remarks, Value: report.Of(func(p *compare.PlaceSummary) any { return words.Nanoseconds(p.WaitNs) })},
		{Title: "±", Unit: unit.Remarks, Value: report.Of(func(p *compare.PlaceSummary) any { return words.ShareOrDash(p.WaitSpread) })},
	}}

// Baseline prints the runs of a baseline and what their places take, with Top rows in each table.
func Baseline(out *report.Sections, path string, b *compare.Baseline) {
	first := &b.Runs[0].Trace
	fmt.Fprintln(out.W, text.Wrap(fmt.Sprintf("%s: %s of %s", path, words.Plural(len(b.Runs), "run", "runs"),
		words.Plural(first.Processes, "rank", "ranks")), out.Width, 2))
	if few := fewRuns(len(b.Runs)); few != "" {
		fmt.Fprintln(out.W, text.Wrap("! "+few, out.Width, 2))
	}
	for _, s := range b.Samples() {
		if lost := report.LossesOf(s.Findings); lost != "" {
			fmt.Fprintln(out.W, text.Wrap(fmt.Sprintf("! Data of %s are lost or doubtful: %s.", s.Trace.Path, lost), out.Width, 2))
		}
	}
	var runs, places []report.Row
	times := b.RankTimeNs()
	for i := range b.Runs {
		runs = append(runs, report.Row{&keptRun{&b.Runs[i], times[i]}})
	}
	for i, p := range b.Places() {
		if i < out.Top {
			places = append(places, report.Row{&p})
		}
	}
	out.Table(keptRuns, runs)
	out.Table(keptPlaces, places)
}

// fewRuns says what a baseline of few runs cannot tell, "" if it has enough.
func fewRuns(n int) string {
	switch n {
	case 1:
		return "One run: how much runs differ by themselves is not known. Add two or more."
	case 2:
		return "Two runs: how much runs differ by themselves is hardly known. Add one or more."
	}
	return ""
}
