package show

import (
	"encoding/csv"
	"fmt"
	"io"

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

// SQLAsCSV writes the rows of an answer as CSV, with a line of titles; what is null is empty.
func SQLAsCSV(w io.Writer, doc *outcome.SQL) error {
	out := csv.NewWriter(w)
	if err := out.Write(doc.Columns); err != nil {
		return err
	}
	cells := make([]string, len(doc.Columns))
	for _, row := range doc.Rows {
		for i, v := range row {
			cells[i] = ""
			if f, ok := v.(float64); ok {
				cells[i] = fmt.Sprint(f)
			} else if v != nil {
				cells[i] = outcome.Cell(v)
			}
		}
		if err := out.Write(cells); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}
