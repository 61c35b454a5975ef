package outcome

import (
	"fmt"

	"tracekit/document"
)

// A SQL is the answer to a query: columns in its order, rows of integers, numbers, texts and nulls.
type SQL struct {
	Schema   string             `json:"schema"`
	Query    string             `json:"query"`
	Columns  []string           `json:"columns"`
	Rows     [][]any            `json:"rows"`
	Out      string             `json:"out,omitempty"` // the file, which has the rows in place of this document
	Findings []document.Finding `json:"findings"`
}

// SQLSchema names the document.
const SQLSchema = "tracekit.sql/1"

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
