package show

import (
	"fmt"
	"strconv"

	"tracekit/document/outcome"
	"tracekit/document/words"
	"tracekit/report"
	"tracekit/report/text"
)

// Hang prints why a job stands still.
func Hang(out *report.Sections, doc *outcome.Hang) {
	w := out.W
	fmt.Fprintln(w, text.Wrap(doc.Sentence, out.Width, 0))
	for i, c := range doc.Causes {
		if c.Follows {
			fmt.Fprintln(w, text.Wrap(fmt.Sprintf("  follows: %s", c.Sentence), out.Width, 4))
		} else if i > 0 {
			fmt.Fprintln(w, text.Wrap(fmt.Sprintf("  also: %s", c.Sentence), out.Width, 4))
		}
	}
	if len(doc.Causes) > 0 {
		g := &text.Grid{Heading: "Last operations", Titles: []string{"rank", "<operation", "<state", "<called at"}}
		g.Note(fmt.Sprintf("What each rank has called last, of %s.", words.Plural(len(doc.Ranks), "dump", "dumps")))
		for _, l := range doc.Last {
			state := "waits"
			if l.Completed {
				state = "completed"
			}
			if l.Operation == "" {
				state = "-"
			}
			g.Add(strconv.Itoa(l.Rank), l.Operation, state, l.Line)
		}
		g.Print(w, out.Width)
	}
	report.PrintFindings(w, out.Width, "Findings", doc.Findings)
}
