package arrowdir

import (
	"bytes"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/ipc"

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

// TestArrowRows states that a file and a stream have the rows of the chosen columns, in their order, however many groups they are.
func TestArrowRows(t *testing.T) {
	for _, rows := range []int{0, 1, 5, 2*MaxGroupRows + 3} {
		table := Table{Columns: []TableColumn{{Name: "i"}, {Name: "n", Names: []string{"a", "b"}}, {Name: "x", Real: true}},
			Fill: func(r *Rows) {
				for i := range rows {
					name := uint32(i % 3)
					if name == 2 {
						name = trace.None
					}
					if !r.Int(int64(i)).Name(name).Real(float64(i) / 2).End() {
						return
					}
				}
			}}
		for _, stream := range []bool{false, true} {
			var b bytes.Buffer
			if err := table.WriteArrow(&b, stream, []int{2, 1}); err != nil {
				t.Fatal(err)
			}
			got := 0
			check := func(r arrow.Record) {
				if r.ColumnName(0) != "x" || r.ColumnName(1) != "n" || r.NumCols() != 2 {
					t.Fatalf("columns are %v", r.Schema())
				}
				x, n := r.Column(0).(*array.Float64), r.Column(1).(*array.Dictionary)
				for i := range int(r.NumRows()) {
					if x.Value(i) != float64(got)/2 || n.IsNull(i) != (got%3 == 2) || !n.IsNull(i) && n.GetValueIndex(i) != got%3 {
						t.Fatalf("row %d is wrong", got)
					}
					got++
				}
			}
			if stream {
				in, err := ipc.NewReader(&b)
				if err != nil {
					t.Fatal(err)
				}
				for in.Next() {
					check(in.Record())
				}
			} else {
				in, err := ipc.NewFileReader(bytes.NewReader(b.Bytes()))
				if err != nil {
					t.Fatal(err)
				}
				for i := range in.NumRecords() {
					r, err := in.Record(i)
					if err != nil {
						t.Fatal(err)
					}
					check(r)
				}
			}
			if got != rows {
				t.Errorf("stream %t: %d rows, want %d", stream, got, rows)
			}
		}
	}
}
