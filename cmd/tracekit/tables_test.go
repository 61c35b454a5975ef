package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"
	"github.com/apache/arrow/go/v15/parquet/pqarrow"

	"tracekit/document"
	"tracekit/document/waitstate"
)

// A parquetTable is a table of a report, read with the library.
type parquetTable struct {
	numbers map[string][]int64 // -1: missing
	names   map[string][]string
	rows    int
}

func readTable(t *testing.T, path string) *parquetTable {
	t.Helper()
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
	out := &parquetTable{numbers: make(map[string][]int64), names: make(map[string][]string), rows: int(table.NumRows())}
	for i := range int(table.NumCols()) {
		name := table.Schema().Field(i).Name
		for _, chunk := range table.Column(i).Data().Chunks() {
			for k := range chunk.Len() {
				switch c := chunk.(type) {
				case *array.Int64:
					v := int64(-1)
					if c.IsValid(k) {
						v = c.Value(k)
					}
					out.numbers[name] = append(out.numbers[name], v)
				default:
					v := ""
					if c.IsValid(k) {
						v = c.ValueStr(k)
					}
					out.names[name] = append(out.names[name], v)
				}
			}
		}
	}
	return out
}

func sum(values []int64) (total int64) {
	for _, v := range values {
		if v > 0 {
			total += v
		}
	}
	return total
}

// TestTablesStandAlone adds up the tables of a report and finds the figures of its document:
// waits by state, overhead, time and calls by source line, messages, collectives.
func TestTablesStandAlone(t *testing.T) {
	samples := map[string]string{}
	for _, sample := range []string{"zoo-4", "halo2d-8", "ring-4-plain"} {
		samples[sample] = sampleArchive(t, sample)
	}
	for sample, archive := range samples {
		dir := t.TempDir()
		text := succeed(t, dir, "analyze", "--json", "-o", "report", archive)
		var a struct {
			CallSites   []document.CallSiteRow `json:"call_sites"`
			CallPaths   []document.CallPathRow
			Messages    document.Messages
			Collectives []document.CollectiveRow
			Overhead    struct {
				OverheadNs int64 `json:"overhead_ns"`
			}
			WaitStates map[string]waitstate.State `json:"wait_states"`
		}
		decode(t, text, &a)
		read := func(name string) *parquetTable {
			return readTable(t, filepath.Join(dir, "report", "tables", name+".parquet"))
		}
		calls, messages := read("calls"), read("messages")
		want := func(what string, got, want int64) {
			t.Helper()
			if got != want {
				t.Errorf("%s: %s: %d, the document has %d", sample, what, got, want)
			}
		}
		waits := make(map[string]int64)
		for i, state := range calls.names["wait_state"] {
			waits[state] += calls.numbers["wait_ns"][i]
		}
		for _, state := range []string{"late_sender", "late_receiver", "wait_at_barrier", "late_broadcast", "early_reduce", "early_scan",
			"wait_at_nxn"} {
			want(state, waits[state], a.WaitStates[state].TimeNs)
		}
		want("overhead", sum(calls.numbers["overhead_ns"]), a.Overhead.OverheadNs)
		type site struct {
			operation, region, file string
			line                    int64
		}
		times, n := make(map[site]int64), make(map[site]int64)
		for i := range calls.rows {
			s := site{calls.names["operation"][i], calls.names["region"][i], calls.names["file"][i], max(0, calls.numbers["line"][i])}
			times[s] += calls.numbers["time_ns"][i]
			n[s]++
		}
		for _, c := range a.CallSites {
			s := site{c.Operation, string(c.Region), string(c.File), int64(c.Line)}
			if n[s] > 0 && !strings.HasPrefix(c.Operation, "MPI_Test") { // the others hold calls that do not communicate
				want(c.Operation+" calls", n[s], int64(c.Calls))
				want(c.Operation+" time", times[s], c.TimeNs)
			}
		}
		var matched, bytes int64
		for i, state := range messages.names["state"] {
			if state == "matched" {
				matched++
				bytes += messages.numbers["bytes"][i]
			}
		}
		want("messages", matched, int64(a.Messages.Count))
		want("bytes", bytes, int64(a.Messages.Bytes))
		if matched > 0 {
			want("mean latency", (sum(messages.numbers["latency_ns"])+matched/2)/matched, a.Messages.Latency.Mean)
		}
		instances := make(map[string]int64)
		collectives := read("collectives")
		for _, operation := range collectives.names["operation"] {
			instances[operation]++
		}
		for _, c := range a.Collectives {
			if instances[c.Operation] < int64(c.Count) { // the document has blocking ones only
				want(c.Operation, instances[c.Operation], int64(c.Count))
			}
		}
		paths := read("callpaths")
		want("call paths", int64(paths.rows), int64(len(a.CallPaths)))
		want("exclusive time", sum(paths.numbers["exclusive_ns"]), func() (total int64) {
			for _, p := range a.CallPaths {
				total += p.ExclusiveNs
			}
			return total
		}())
	}
}

// TestThreadTable finds the threads of the document in the table, each of whose times sum to the run.
func TestThreadTable(t *testing.T) {
	dir := t.TempDir()
	succeed(t, dir, "generate", "halo", "--ranks", "4", "--threads", "3", "--iterations", "4", "-o", "run")
	text := succeed(t, dir, "analyze", "--json", "-o", "report", "run")
	var a struct {
		Trace   document.TraceInfo
		Threads document.Threads
	}
	decode(t, text, &a)
	table := readTable(t, filepath.Join(dir, "report", "tables", "threads.parquet"))
	if table.rows != 12 || len(a.Threads.Rows) != 12 {
		t.Fatalf("%d rows, %d in the document, want 12", table.rows, len(a.Threads.Rows))
	}
	for i, row := range a.Threads.Rows {
		at := func(column string) int64 { return table.numbers[column][i] }
		total := at("useful_ns") + at("communication_ns") + at("barrier_ns") + at("waiting_ns") + at("scheduling_ns") +
			at("measurement_ns") + at("idle_ns")
		if total != a.Trace.DurationNs || at("rank") != int64(row.Rank) || at("thread") != int64(row.Thread) ||
			table.names["name"][i] != string(row.Name) ||
			at("useful_ns") != row.UsefulNs || at("serial_ns") != row.SerialNs || at("team_wait_ns") != row.TeamWaitNs {
			t.Errorf("row %d sums to %d of %d; the document has %+v", i, total, a.Trace.DurationNs, row)
		}
	}
}
