package arrowdir

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/ipc"
	"github.com/apache/arrow/go/v15/arrow/memory"
	"github.com/apache/arrow/go/v15/parquet/pqarrow"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"tracekit/trace"
	"tracekit/trace/tracetest"
)

const events = `
location 0 rank=0
  1 Enter main ; 2 MpiSend to=0 attr=0:uint8:1 ; 3 MpiCollectiveBegin ; 4 Metric 0 uint64:1 uint64:2
  5 ThreadFork 3 2 ; 6 Metric 0 uint64:1 ; 7 ThreadJoin 3 ; 8 CallingContextEnter main context=0 ; 9 Leave main attr=0:uint8:2
`

// recordsOf returns all tables of a batch.
func recordsOf(b *trace.Batch) [trace.Tables]arrow.Record {
	var r [trace.Tables]arrow.Record
	for t := range trace.TableID(trace.Tables) {
		r[t] = eventRecord(b, t)
	}
	return r
}

func release(records [trace.Tables]arrow.Record) {
	for _, r := range records {
		if r != nil {
			r.Release()
		}
	}
}

func TestBatchThroughRecords(t *testing.T) {
	for _, text := range []string{tracetest.Everything, events, "location 0\n"} {
		for l, batches := range tracetest.MustParse(t, text).Batches {
			b := batches[0]
			records := recordsOf(b)
			got, err := batchOf(trace.LocationID(l), records)
			if err != nil {
				t.Fatal(err)
			}
			if len(b.Order) > 0 {
				if d := cmp.Diff(b.Order, got.Order); d != "" {
					t.Error(d)
				}
			}
			got.Order, b.Order = nil, nil
			if d := cmp.Diff(b, got, cmpopts.EquateEmpty()); d != "" {
				t.Errorf("batch changed:\n%s", d)
			}
			release(records)
		}
	}
}

func TestRecordsShareMemory(t *testing.T) {
	b := tracetest.MustParse(t, events).Batches[0][0]
	r := eventRecord(b, trace.TableFlow)
	defer r.Release()
	b.Flow.Time[0] = 77
	if got := r.Column(1).(*array.Int64).Value(0); got != 77 {
		t.Errorf("the record's time is %d", got)
	}
	back, err := batchOf(0, recordsOf(b))
	if err != nil {
		t.Fatal(err)
	}
	if &back.P2P.Bytes[0] != &b.P2P.Bytes[0] || &back.Other.Args[0] != &b.Other.Args[0] || &back.Flow.Region[0] != &b.Flow.Region[0] {
		t.Error("the columns were copied")
	}
}

// TestBatchThroughIPC writes and reads the tables as Arrow streams and gives all memory
// back.
func TestBatchThroughIPC(t *testing.T) {
	mem := memory.NewCheckedAllocator(memory.NewGoAllocator())
	defer mem.AssertSize(t, 0)
	b := tracetest.MustParse(t, tracetest.Everything).Batches[0][0]
	var records [trace.Tables]arrow.Record
	for i := range trace.TableID(trace.Tables) {
		var buf bytes.Buffer
		r := eventRecord(b, i)
		w := ipc.NewWriter(&buf, ipc.WithSchema(r.Schema()), ipc.WithAllocator(mem))
		if err := w.Write(r); err != nil {
			t.Fatal(err)
		}
		r.Release()
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		rd, err := ipc.NewReader(&buf, ipc.WithAllocator(mem))
		if err != nil {
			t.Fatal(err)
		}
		if !rd.Next() {
			t.Fatal(rd.Err())
		}
		records[i] = rd.Record()
		records[i].Retain()
		rd.Release()
	}
	got, err := batchOf(0, records)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(b, got, cmpopts.EquateEmpty()); d != "" {
		t.Errorf("batch changed:\n%s", d)
	}
	release(records)
}

// TestBatchOfSlices: a part of the events is a batch that begins later.
func TestBatchOfSlices(t *testing.T) {
	b := tracetest.MustParse(t, events).Batches[0][0]
	all := recordsOf(b)
	var part [trace.Tables]arrow.Record
	part[trace.TableMetric] = all[trace.TableMetric].NewSlice(2, 3) // event 5
	part[trace.TableOther] = all[trace.TableOther].NewSlice(1, 2)   // event 6
	part[trace.TableFlow] = all[trace.TableFlow].NewSlice(1, 3)     // events 7 and 8
	got, err := batchOf(0, part)
	if err != nil {
		t.Fatal(err)
	}
	if got.First != 5 || !slices.Equal(got.Order, []trace.TableID{trace.TableMetric, trace.TableOther, trace.TableFlow, trace.TableFlow}) {
		t.Errorf("First %d, Order %v", got.First, got.Order)
	}
	if !slices.Equal(got.Other.Args, []uint64{3}) || !slices.Equal(got.Other.Offset, []int32{0, 1}) {
		t.Errorf("Other = %+v", got.Other)
	}
}

func TestBatchOfRefuses(t *testing.T) {
	b := tracetest.MustParse(t, events).Batches[0][0]
	with := func(t trace.TableID, r arrow.Record) [trace.Tables]arrow.Record {
		all := recordsOf(b)
		all[t] = r
		return all
	}
	times := array.NewRecord(arrow.NewSchema([]arrow.Field{{Name: "seq", Type: arrow.PrimitiveTypes.Int64}}, nil), []arrow.Array{
		eventRecord(b, trace.TableFlow).Column(1)}, 3)
	for _, c := range []struct {
		records [trace.Tables]arrow.Record
		want    string
	}{
		{with(trace.TableFlow, eventRecord(b, trace.TableP2P)), `table flow: there are 0 columns "region"`},
		{with(trace.TableFlow, times), `table flow: column "seq" is of type int64, not uint64`},
		{with(trace.TableFlow, nil), "event"},
		{with(trace.TableOther, eventRecord(b, trace.TableFlow)), `there are 0 columns "args"`},
	} {
		if _, err := batchOf(0, c.records); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("got %v, want %s", err, c.want)
		}
	}
}

func TestDefsThroughRecords(t *testing.T) {
	mem := memory.NewCheckedAllocator(memory.NewGoAllocator())
	defer mem.AssertSize(t, 0)
	for _, text := range []string{tracetest.Everything, "node 0 root\nprocess 0 p node=0\nprocess 1 q node=0 creator=0\n"} {
		d := tracetest.MustParse(t, text).Definitions
		records := defRecords(d, mem)
		got, err := defsOf(records)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(d, got); diff != "" {
			t.Errorf("definitions changed:\n%s", diff)
		}
		for _, r := range records {
			r.Record.Release()
		}
	}
}

func TestDefsOfRefuses(t *testing.T) {
	mem := memory.NewGoAllocator()
	records := defRecords(tracetest.MustParse(t, tracetest.Everything).Definitions, mem)
	for i, r := range records {
		if r.Name == "region" {
			records[i].Record = records[0].Record
		}
	}
	if _, err := defsOf(records); err == nil || err.Error() != `table region: there are 0 columns "name"` {
		t.Error(err)
	}
	if _, err := defsOf(records[1:2]); err == nil || err.Error() != "the clock resolution is 0" {
		t.Error(err)
	}
}

// TestResultTable writes a table of more rows than are encoded at a time, beside others, with one goroutine and
// several, and reads it with the library: integers and names, and which are missing.
func TestResultTable(t *testing.T) {
	const rows = 3*MaxGroupRows + 3
	x := Table{Name: "x", Columns: []TableColumn{{Name: "id"}, {Name: "kind", Names: []string{"even", "odd"}},
		{Name: "none", Names: []string{}}},
		Fill: func(r *Rows) {
			for i := range uint32(rows) {
				kind := i % 2
				if i%5 == 0 {
					kind = trace.None
				}
				if i%3 == 0 {
					r.Missing()
				} else {
					r.Int(int64(i))
				}
				if !r.Name(kind).Name(trace.None).End() {
					return
				}
			}
		}}
	few := Table{Name: "few", Columns: []TableColumn{{Name: "id"}}, Fill: func(r *Rows) { r.Int(1).End() }}
	none := Table{Name: "none", Columns: few.Columns, Fill: func(*Rows) {}}
	one, several := t.TempDir(), t.TempDir()
	if err := errors.Join(WriteParquet(t.Context(), one, 1, few, x, none),
		WriteParquet(t.Context(), several, 4, few, x, none)); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"few.parquet", "x.parquet", "none.parquet"} {
		if !bytes.Equal(tracetest.ReadFile(t, filepath.Join(one, name)), tracetest.ReadFile(t, filepath.Join(several, name))) {
			t.Errorf("%s depends on the number of jobs", name)
		}
	}
	path := filepath.Join(several, "x.parquet")
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	table, err := pqarrow.ReadTable(t.Context(), f, nil, pqarrow.ArrowReadProperties{}, memory.NewGoAllocator())
	if err != nil {
		t.Fatal(err)
	}
	defer table.Release()
	if table.NumRows() != rows {
		t.Fatalf("%d rows, want %d", table.NumRows(), rows)
	}
	row := 0
	for _, chunk := range table.Column(0).Data().Chunks() {
		for i := range chunk.Len() {
			if missing := row%3 == 0; chunk.IsNull(i) != missing || !missing && chunk.(*array.Int64).Value(i) != int64(row) {
				t.Fatalf("row %d: id %s", row, chunk.ValueStr(i))
			}
			row++
		}
	}
	row = 0
	for _, chunk := range table.Column(1).Data().Chunks() {
		for i := range chunk.Len() {
			want := []string{"even", "odd"}[row%2]
			if missing := row%5 == 0; chunk.IsNull(i) != missing || !missing && chunk.ValueStr(i) != want {
				t.Fatalf("row %d: kind %s", row, chunk.ValueStr(i))
			}
			row++
		}
	}
	if n := table.Column(2).Data().NullN(); n != rows {
		t.Errorf("%d of %d values are missing where none is there", n, rows)
	}
}

// BenchmarkRecord turns batches into records and back.
func BenchmarkRecord(b *testing.B) {
	var batch trace.Batch
	batch.Reset(0, 0)
	for i := range 10_000 {
		batch.AddFlow(int64(i), trace.KindEnter, 1)
		batch.AddP2P(trace.P2PRow{Time: int64(i), Kind: trace.KindMpiSend})
	}
	for b.Loop() {
		records := recordsOf(&batch)
		if _, err := batchOf(0, records); err != nil {
			b.Fatal(err)
		}
		release(records)
	}
	b.ReportMetric(20_000*float64(b.N)/b.Elapsed().Seconds()/1e6, "Mevents/s")
}
