package show

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"tracekit/document/outcome"
	"tracekit/document/words"
	"tracekit/report"
	"tracekit/report/text"
	"tracekit/report/unit"
)

// Info prints what is in a trace, whose format has this label.
func Info(out *report.Sections, doc *outcome.Info, label string) {
	t := doc.Trace
	report.PrintRebuilt(out.W, "", t.Rebuilt)
	text.Line(out.W, "%s", t.Path)
	line := func(what, value string) {
		if value != "" {
			fmt.Fprintln(out.W, text.Wrap(fmt.Sprintf("  %-15s %s", what, value), out.Width, 18))
		}
	}
	line("format", strings.TrimSpace(label+" "+doc.Version))
	line("written by", t.Creator)
	line("machine", doc.Machine)
	line("description", doc.Description)
	line("size", words.Bytes(uint64(doc.Bytes)))
	line("processes", words.Count(t.Processes))
	line("locations", fmt.Sprintf("%s (%s)", words.Count(t.Locations), words.Plural(doc.Threads, "CPU thread", "CPU threads")))
	line("events", announced(t.Events, words.Count(t.Events)))
	line("time span", announced(uint64(t.DurationNs), words.Time(t.DurationNs)))
	line("clock", fmt.Sprintf("%s ticks per second; offsets measured for %s", words.Count(t.ClockResolutionHz),
		words.Plural(doc.Offsets, "location", "locations")))
	for _, k := range slices.Sorted(maps.Keys(doc.Properties)) {
		line("property", k+" = "+doc.Properties[k])
	}
	out.Table(communicators, report.RowsOf(doc.Communicators))
	out.Table(kinds("Definitions"), counted(doc.Definitions, func(kind string) string { return strings.ReplaceAll(kind, "_", " ") }))
	out.Table(kinds("Records"), counted(doc.Records, func(kind string) string { return kind }))
	if len(doc.Findings) > 0 {
		report.PrintFindings(out.W, out.Width, "Findings", doc.Findings)
	}
}

var communicators = &report.Table{Key: "communicators", Title: "Communicators", Columns: []report.Column{
	{Title: "name", Value: report.Of(func(c *outcome.Communicators) any { return c.Name })},
	{Title: "members", Unit: unit.Count, Value: report.Of(func(c *outcome.Communicators) any { return c.Members })},
	{Title: "number", Unit: unit.Count, Value: report.Of(func(c *outcome.Communicators) any { return c.Count })},
}}

// A kindRow is how many there are of a kind.
type kindRow struct {
	Kind   string `json:"kind"`
	Number int64  `json:"number"`
}

func kinds(title string) *report.Table {
	return &report.Table{Title: title, Columns: []report.Column{{Key: "kind", Title: "kind"},
		{Key: "number", Title: "number", Unit: unit.Count}}}
}

// counted makes rows of the numbers of kinds, without those of which there are none.
func counted[N int | uint64](numbers map[string]N, name func(string) string) []report.Row {
	var rows []kindRow
	for _, kind := range slices.Sorted(maps.Keys(numbers)) {
		if n := numbers[kind]; n > 0 {
			rows = append(rows, kindRow{name(kind), int64(n)})
		}
	}
	return report.RowsOf(rows)
}

// announced returns a number of the definitions, which say 0 where their writer did not know
// it.
func announced(n uint64, text string) string {
	if n == 0 {
		return "not recorded (analyze finds it)"
	}
	return text
}
