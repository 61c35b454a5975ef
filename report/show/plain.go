package show

import (
	"fmt"
	"strings"

	"tracekit/document/field"
	"tracekit/document/outcome"
	"tracekit/document/waitstate"
	"tracekit/document/words"
	"tracekit/report"
	"tracekit/report/text"
)

// Explain prints the chain, or that no call waits there, with the reason if there is one.
func Explain(out *report.Sections, d *outcome.Explain, where, why string) {
	at := func(ns int64) string { return words.Time(ns - d.Trace.StartNs) }
	line := func(indent int, format string, args ...any) {
		pad := strings.Repeat(" ", indent)
		fmt.Fprintln(out.W, pad+text.Wrap(fmt.Sprintf(format, args...), out.Width-indent, max(3, indent)))
	}
	if r := report.RebuiltLine("", d.Trace.Rebuilt); r != "" {
		line(0, "%s", r)
	}
	if len(d.Chain) == 0 {
		if why != "" {
			where += ": " + why
		}
		line(0, "No call waits %s.", where)
	}
	for i, w := range d.Chain {
		title := ""
		for k := range waitstate.Kinds {
			if k.Info().Key == w.Kind {
				title = k.String()
			}
		}
		line(0, "%d. Rank %s waits %s in %s, from %s on: %s.", i+1, words.Rank(w.Rank), words.Time(w.TimeNs),
			called(w.Operation, w.SourceLine), at(w.StartNs), title)
		if w.Cause.Operation == "" {
			line(3, "What it waits for is recorded outside any call of rank %s.", words.Rank(w.Cause.Rank))
			return
		}
		line(3, "It waits for rank %s, which is in %s at %s. Since the two last met, at %s, that rank took longer:",
			words.Rank(w.Cause.Rank), called(w.Cause.Operation, w.Cause.SourceLine),
			at(w.Cause.EnterNs), at(w.OpenedNs))
		for _, x := range w.Longer[:min(told, len(w.Longer))] {
			line(6, "%s in %s", words.Time(x.TimeNs), called(x.Operation, x.SourceLine))
		}
		if more := len(w.Longer) - told; more > 0 {
			line(6, "and in %s", words.Plural(more, "other place", "other places"))
		}
		if w.WaitedNs > 0 {
			line(6, "%s waiting itself", words.Time(w.WaitedNs))
		}
	}
	if n := len(d.Chain); n > 0 && len(d.Chain[n-1].Longer) > 0 {
		w := d.Chain[n-1]
		line(0, "Origin: rank %s in %s.", words.Rank(w.Cause.Rank), called(w.Longer[0].Operation, w.Longer[0].SourceLine))
	}
}

// told is how many places are named for each wait.
const told = 3

// called names an operation with the place that calls it, or a place outside MPI.
func called(operation field.Name, s field.SourceLine) string {
	if operation == "" {
		return words.Place(s)
	}
	if s.Region == "" && s.File == "" {
		return string(operation)
	}
	return string(operation) + ", " + words.Place(s)
}

// Convert prints what was written, and what was lost.
func Convert(out *report.Sections, doc *outcome.Convert) {
	report.PrintRebuilt(out.W, "", doc.Rebuilt)
	text.Line(out.W, "%s (%s) → %s (%s): %s", doc.In, doc.InFormat, doc.Out, doc.OutFormat,
		words.Plural(int(doc.Events), "event", "events"))
	said := "times are copied as they are"
	if doc.Clock != nil {
		said = report.ClockLine(doc.Clock)
	}
	if doc.Measured > 0 {
		said += "; beside them the measured offsets of " + words.Plural(doc.Measured, "location", "locations") +
			", which other programs may not apply (--clock auto writes corrected times)"
	}
	fmt.Fprintln(out.W, text.Wrap("Clock: "+said, out.Width, 0))
	if len(doc.Lost) == 0 {
		fmt.Fprintln(out.W, "Nothing was lost.")
	} else {
		fmt.Fprintln(out.W, "\nLost, because the format cannot express it")
		Lost(out.W, doc.Lost, "%12s  %s")
	}
	if len(doc.Findings) > 0 {
		report.PrintFindings(out.W, out.Width, "Findings", doc.Findings)
	}
}

// Spacetime prints what was drawn; name returns the path of a trace.
func Spacetime(out *report.Sections, doc *outcome.Spacetime, name func(i int) string) {
	for i, r := range doc.Rebuilt {
		report.PrintRebuilt(out.W, words.TraceName(name(i))+" was ", r)
	}
	text.Line(out.W, "%s: %d × %d pixels", doc.Out, doc.Width, doc.Height)
	report.PrintFindings(out.W, out.Width, "Findings", doc.Findings)
}

// Report prints which page was written.
func Report(out *report.Sections, doc *outcome.Report) {
	text.Line(out.W, "%s: %s", doc.Out, words.Bytes(uint64(doc.Bytes)))
	report.PrintFindings(out.W, out.Width, "Findings", doc.Findings)
}
