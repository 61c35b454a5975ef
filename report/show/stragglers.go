package show

import (
	"fmt"

	"tracekit/document/outcome"
	"tracekit/document/words"
	"tracekit/report"
	"tracekit/report/text"
)

// Stragglers prints what a run loses because its workers are unequal, with Top rows in each table.
func Stragglers(out *report.Sections, doc *outcome.Stragglers) {
	fmt.Fprintf(out.W, "%s\n", doc.Trace.Path)
	if doc.Training != nil {
		out.Analysis.Training = doc.Training
		out.Training()
	}
	if doc.Missing != "" {
		fmt.Fprintln(out.W, "\n"+text.Wrap("No training steps were found: "+doc.Missing+". Ranks are compared as those of any program.",
			out.Width, 0))
	}
	if p := doc.Program; p != nil {
		fmt.Fprintf(out.W, "\nRun time %s, %s with equal ranks: slowdown %.3f.\n", words.Time(p.RuntimeNs), words.Time(p.EqualNs), p.Slowdown)
		if p.MW != nil && *p.MW > 0 && p.Slowdown >= 1.0005 { // 1.001, as printed
			fmt.Fprintln(out.W, text.Wrap(fmt.Sprintf("%s of the loss would be gone if the slowest (%s) took the mean time.",
				words.Share(min(1, *p.MW)), report.RanksNamed(p.Slowest)), out.Width, 2))
		}
		g := &text.Grid{Heading: "Slowdown by rank" + out.Of(len(p.ByRank), "ranks"), Titles: []string{"rank", "slowdown"}}
		g.Note("All other ranks take the mean over ranks at each place, visit by visit.")
		for _, r := range p.ByRank[:min(out.Top, len(p.ByRank))] {
			g.Add(words.Rank(r.Rank), words.Thousandths(&r.Slowdown))
		}
		g.Print(out.W, out.Width)
		g = &text.Grid{Heading: "Slowdown by place" + out.Of(len(p.ByPlace), "places"), Titles: []string{"<place", "slowdown"}}
		g.Note("In all other places ranks take the mean.")
		for _, r := range p.ByPlace[:min(out.Top, len(p.ByPlace))] {
			g.Add(r.Place, words.Thousandths(&r.Slowdown))
		}
		g.Print(out.W, out.Width)
	}
	if doc.Out != "" {
		fmt.Fprintf(out.W, "\nPicture: %s\n", doc.Out)
	}
	report.PrintFindings(out.W, out.Width, "Findings", doc.Findings)
}
