package arrowdir

import (
	"bytes"
	"errors"
	"os"
	"strconv"
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

// TestArrowFile states that a file whose rows are written by several goroutines has the values of one that is written row by row, and that
// its columns lie in one piece and say how many values they miss.
func TestArrowFile(t *testing.T) {
	many := make([]string, 1<<16) // names whose indices need 32 bits, 16 bits, 8 bits
	for i := range many {
		many[i] = strconv.Itoa(i)
	}
	columns := []TableColumn{{Name: "i"}, {Name: "n", Names: []string{"a", "b"}}, {Name: "all"}, {Name: "none", Names: []string{}},
		{Name: "8", Names: many[:1<<7]}, {Name: "16", Names: many[:1<<15]}, {Name: "32", Names: many}}
	row := func(r *Rows, i int) {
		name := uint32(i % 3)
		if name == 2 {
			name = trace.None
		}
		if i%5 == 1 {
			r.Missing()
		} else {
			r.Int(int64(i))
		}
		r.Name(name).Int(int64(-i)).Name(trace.None)
		for _, c := range columns[4:] {
			r.Name(uint32((i + len(c.Names) - 2) % len(c.Names)))
		}
	}
	for _, sizes := range [][]int{{0}, {3}, {0, pieceRows - 1, 0, 1, 2*pieceRows + 3, 0}} {
		table, rows := Table{Columns: columns}, 0
		var parts []Part
		for _, n := range sizes {
			first := rows
			parts = append(parts, Part{Rows: n, Fill: ByRow(func(r *Rows, i int) { row(r, first+i) })})
			rows += n
		}
		table.Parts = func() []Part { return parts }
		for _, wanted := range [][]int{{0, 1, 2, 3}, {2}, {1, 1, 0}, {4, 5, 6}} {
			f, err := os.CreateTemp(t.TempDir(), "")
			if err != nil {
				t.Fatal(err)
			}
			var plain bytes.Buffer
			if err := errors.Join(table.WriteArrowFile(t.Context(), f, 3, wanted), table.WriteArrow(&plain, false, wanted)); err != nil {
				t.Fatal(err)
			}
			read := func(r ipc.ReadAtSeeker) arrow.Table {
				in, err := ipc.NewFileReader(r)
				if err != nil {
					t.Fatal(err)
				}
				var records []arrow.Record
				for i := range in.NumRecords() {
					r, err := in.RecordAt(i)
					if err != nil {
						t.Fatal(err)
					}
					records = append(records, r)
				}
				return array.NewTableFromRecords(in.Schema(), records)
			}
			got, want := read(f), read(bytes.NewReader(plain.Bytes()))
			if got.NumRows() != int64(rows) || want.NumRows() != int64(rows) {
				t.Fatalf("%d and %d rows, want %d", got.NumRows(), want.NumRows(), rows)
			}
			for i, column := range wanted {
				if dictionary, ok := got.Column(i).DataType().(*arrow.DictionaryType); ok && column > 3 {
					for _, chunk := range got.Column(i).Data().Chunks() {
						for k := range min(4, chunk.Len()) {
							n := len(columns[column].Names)
							if at := chunk.(*array.Dictionary).GetValueIndex(k); at != (k+n-2)%n || dictionary.IndexType.Name() != "int"+columns[column].Name {
								t.Errorf("row %d has name %d of %d by %v", k, at, n, dictionary)
							}
						}
					}
				}
				a, b := got.Column(i).Data(), want.Column(i).Data()
				if !array.ChunkedEqual(a, b) || a.NullN() != b.NullN() || len(a.Chunks()) != 1 {
					t.Errorf("%v, column %d of %v: %d values are missing, want %d, in %d pieces", sizes, i, wanted, a.NullN(), b.NullN(), len(a.Chunks()))
				}
			}
		}
	}
}
