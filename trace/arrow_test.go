package trace

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/ipc"
	"github.com/apache/arrow/go/v15/arrow/memory"
	"github.com/google/go-cmp/cmp"
)

// recordsOf returns all tables of a batch.
func recordsOf(b *Batch) [Tables]arrow.Record {
	var r [Tables]arrow.Record
	for t := range TableID(Tables) {
		r[t] = b.Record(t)
	}
	return r
}

func release(records [Tables]arrow.Record) {
	for _, r := range records {
		if r != nil {
			r.Release()
		}
	}
}

func TestBatchThroughRecords(t *testing.T) {
	for _, text := range []string{pingText, everything, soundEvents, "location 0\n"} {
		for l, batches := range mustParse(t, text).Batches {
			b := batches[0]
			records := recordsOf(b)
			got, err := BatchOf(LocationID(l), records)
			if err != nil {
				t.Fatal(err)
			}
			if len(b.Order) > 0 {
				if d := cmp.Diff(b.Order, got.Order); d != "" {
					t.Error(d)
				}
			}
			got.Order, b.Order = nil, nil
			if d := diffBatches(b, got); d != "" {
				t.Errorf("batch changed:\n%s", d)
			}
			release(records)
		}
	}
}

func TestRecordsShareMemory(t *testing.T) {
	b := mustParse(t, soundEvents).Batches[0][0]
	r := b.Record(TableFlow)
	defer r.Release()
	b.Flow.Time[0] = 77
	if got := r.Column(1).(*array.Int64).Value(0); got != 77 {
		t.Errorf("the record's time is %d", got)
	}
	back, err := BatchOf(0, recordsOf(b))
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
	b := mustParse(t, everything).Batches[0][0]
	var records [Tables]arrow.Record
	for i := range TableID(Tables) {
		var buf bytes.Buffer
		r := b.Record(i)
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
	got, err := BatchOf(0, records)
	if err != nil {
		t.Fatal(err)
	}
	if d := diffBatches(b, got); d != "" {
		t.Errorf("batch changed:\n%s", d)
	}
	release(records)
}

// TestBatchOfSlices: a part of the events is a batch that begins later.
func TestBatchOfSlices(t *testing.T) {
	b := mustParse(t, soundEvents).Batches[0][0]
	all := recordsOf(b)
	var part [Tables]arrow.Record
	part[TableMetric] = all[TableMetric].NewSlice(2, 3) // event 5
	part[TableOther] = all[TableOther].NewSlice(1, 2)   // event 6
	part[TableFlow] = all[TableFlow].NewSlice(1, 3)     // events 7 and 8
	got, err := BatchOf(0, part)
	if err != nil {
		t.Fatal(err)
	}
	if got.First != 5 || !slices.Equal(got.Order, []TableID{TableMetric, TableOther, TableFlow, TableFlow}) {
		t.Errorf("First %d, Order %v", got.First, got.Order)
	}
	if !slices.Equal(got.Other.Args, []uint64{3}) || !slices.Equal(got.Other.Offset, []int32{0, 1}) {
		t.Errorf("Other = %+v", got.Other)
	}
}

func TestBatchOfRefuses(t *testing.T) {
	b := mustParse(t, soundEvents).Batches[0][0]
	with := func(t TableID, r arrow.Record) [Tables]arrow.Record {
		all := recordsOf(b)
		all[t] = r
		return all
	}
	times := array.NewRecord(arrow.NewSchema([]arrow.Field{{Name: "seq", Type: arrow.PrimitiveTypes.Int64}}, nil), []arrow.Array{
		b.Record(TableFlow).Column(1)}, 3)
	for _, c := range []struct {
		records [Tables]arrow.Record
		want    string
	}{
		{with(TableFlow, b.Record(TableP2P)), `table flow: there are 0 columns "region"`},
		{with(TableFlow, times), `table flow: column "seq" is of type int64, not uint64`},
		{with(TableFlow, nil), "event"},
		{with(TableOther, b.Record(TableFlow)), `there are 0 columns "args"`},
	} {
		if _, err := BatchOf(0, c.records); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("got %v, want %s", err, c.want)
		}
	}
}

func TestDefsThroughRecords(t *testing.T) {
	mem := memory.NewCheckedAllocator(memory.NewGoAllocator())
	defer mem.AssertSize(t, 0)
	for _, text := range []string{pingText, everything, soundDefs} {
		d := mustParse(t, text).Definitions
		records := d.Records(mem)
		got, err := DefsOf(records)
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
	records := mustParse(t, soundDefs).Definitions.Records(mem)
	for i, r := range records {
		if r.Name == "region" {
			records[i].Record = records[0].Record
		}
	}
	if _, err := DefsOf(records); err == nil || err.Error() != `table region: there are 0 columns "name"` {
		t.Error(err)
	}
	if _, err := DefsOf(records[1:2]); err == nil || err.Error() != "the clock's resolution is 0" {
		t.Error(err)
	}
}

func TestTraceTables(t *testing.T) {
	tr := soundTrace(t)
	tr.Recvs[0].Append(Recv{From: 1, Tag: 9, SendLoc: None})
	rows := make(map[string]int64)
	for _, table := range tr.ArrowTables() {
		for r := range table.Records {
			rows[table.Name] += r.NumRows()
			if !r.Schema().Equal(table.Schema) {
				t.Errorf("%s: %v", table.Name, r.Schema())
			}
			if table.Name == "messages" {
				got := r.Column(0).(*array.Uint32).Uint32Values()
				if !slices.Equal(got, []uint32{0, 1}) {
					t.Errorf("senders are %v", got)
				}
			}
		}
	}
	want := map[string]int64{"calls": 4, "messages": 2, "collectives": 1, "members": 2}
	if d := cmp.Diff(want, rows); d != "" {
		t.Error(d)
	}
}

func TestTraceTablesAreCut(t *testing.T) {
	tr := soundTrace(t)
	for range RecordRows {
		tr.Members.Append(Member{Sent: 5})
	}
	var rows []int64
	for r := range tr.ArrowTables()[3].Records {
		rows = append(rows, r.NumRows())
	}
	if !slices.Equal(rows, []int64{RecordRows, 2}) {
		t.Errorf("records have %v rows", rows)
	}
}

// BenchmarkRecord turns batches into records and back.
func BenchmarkRecord(b *testing.B) {
	var batch Batch
	batch.Reset(0, 0)
	for i := range 10_000 {
		batch.AddFlow(int64(i), KindEnter, 1)
		batch.AddP2P(P2PRow{Time: int64(i), Kind: KindMpiSend})
	}
	for b.Loop() {
		records := recordsOf(&batch)
		if _, err := BatchOf(0, records); err != nil {
			b.Fatal(err)
		}
		release(records)
	}
	b.ReportMetric(20_000*float64(b.N)/b.Elapsed().Seconds()/1e6, "Mevents/s")
}
