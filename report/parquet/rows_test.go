package parquet

import (
	"slices"
	"testing"

	"tracekit/document/field"
	"tracekit/readers/arrowdir"
	"tracekit/report"
	"tracekit/trace"
)

// TestTableOfRows states how columns are named, and which have names and which numbers.
func TestTableOfRows(t *testing.T) {
	type inner struct {
		Ns *int64 `json:"ns"`
	}
	type line struct {
		Rank field.Rank `json:"rank"`
		Name string     `json:"name"`
		In   *inner     `json:"in"`
	}
	ns := int64(7)
	doc := struct {
		Rows []line `json:"rows"`
	}{[]line{{3, "a", &inner{&ns}}, {field.Rank(trace.None), "", nil}, {4, "a", &inner{}}}}
	table := tableOf("rows", report.Row{&doc}.Below("rows[]"), []string{"rank", "name text", "inner_ns=in.ns"})
	var names []string
	for _, c := range table.Columns {
		names = append(names, c.Name)
	}
	if want := []string{"rank", "name", "inner_ns"}; !slices.Equal(names, want) || !slices.Equal(table.Columns[1].Names, []string{"a"}) ||
		table.Columns[0].Names != nil || table.Columns[2].Names != nil {
		t.Errorf("columns %v, names %v", names, table.Columns[1].Names)
	}
	if err := arrowdir.WriteParquet(t.Context(), t.TempDir(), 1, table); err != nil {
		t.Error(err)
	}
}
