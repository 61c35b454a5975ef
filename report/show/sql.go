package show

import (
	"fmt"

	"tracekit/document/outcome"
	"tracekit/document/words"
	"tracekit/report"
	"tracekit/report/text"
)

// SQL prints the rows of an answer.
func SQL(out *report.Sections, doc *outcome.SQL) {
	g := text.Grid{}
	for i, c := range doc.Columns {
		for _, row := range doc.Rows {
			if _, isText := row[i].(string); isText {
				c = "<" + c
				break
			}
		}
		g.Titles = append(g.Titles, c)
	}
	for _, row := range doc.Rows {
		cells := make([]string, len(row))
		for i, v := range row {
			cells[i] = outcome.Cell(v)
		}
		g.Add(cells...)
	}
	g.Print(out.W, out.Width)
	fmt.Fprintln(out.W, words.Plural(len(doc.Rows), "row", "rows"))
	for _, n := range doc.Notes {
		fmt.Fprintln(out.W, n)
	}
}
