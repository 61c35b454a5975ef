package outcome

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"slices"

	"tracekit/document"
)

// A SQL is the answer to a query: columns in its order, rows of integers, numbers, texts and nulls.
type SQL struct {
	Schema   string             `json:"schema"`
	Query    string             `json:"query"`
	Columns  []string           `json:"columns"`
	Rows     [][]any            `json:"rows"`
	Out      string             `json:"out,omitempty"`   // the file, which has the rows in place of this document
	Notes    []string           `json:"notes,omitempty"` // what makes tables that the query reads doubtful, and why they have no rows
	Findings []document.Finding `json:"findings"`
}

// SQLSchema names the document.
const SQLSchema = "tracekit.sql/1"

// MarshalJSON writes an infinite number as 9e999 or -9e999, as SQLite does: JSON has no other.
func (d *SQL) MarshalJSON() ([]byte, error) {
	type plain SQL
	out := plain(*d)
	out.Rows = slices.Clone(d.Rows)
	for i, row := range out.Rows {
		for k, v := range row {
			if f, ok := v.(float64); ok && math.IsInf(f, 0) {
				out.Rows[i] = slices.Clone(out.Rows[i])
				out.Rows[i][k] = json.Number("9e999")
				if f < 0 {
					out.Rows[i][k] = json.Number("-9e999")
				}
			}
		}
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false) // that is for whoever writes the document to say
	err := e.Encode(out)
	return b.Bytes(), err
}

// Cell writes a value of a row.
func Cell(v any) string {
	switch v := v.(type) {
	case nil:
		return "NULL"
	case []byte:
		return fmt.Sprintf("x'%x'", v)
	case float64:
		return fmt.Sprintf("%.6g", v)
	}
	return fmt.Sprint(v)
}
