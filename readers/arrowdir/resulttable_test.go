package arrowdir

import (
	"testing"

	"tracekit/trace"
)

// TestResultsMissing: a column in which every value is missing is written, whatever its type.
func TestResultsMissing(t *testing.T) {
	for _, rows := range []int{0, 1, 3} {
		err := WriteParquet(t.Context(), t.TempDir(), 1, Table{Name: "x",
			Columns: []TableColumn{{Name: "none", Names: []string{}}, {Name: "name", Names: []string{"a"}},
				{Name: "empty", Names: []string{""}}, {Name: "send_ns"}},
			Fill: func(r *Rows) {
				for range rows {
					r.Name(trace.None).Name(trace.None).Name(0).Missing().End()
				}
			}})
		if err != nil {
			t.Errorf("%d rows: %v", rows, err)
		}
	}
}
