package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	stdio "io"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"tracekit/cmd/tracekit/internal/cli"
	"tracekit/document/outcome"
)

// TestSQLForms states that the forms of an answer have the same rows.
func TestSQLForms(t *testing.T) {
	dir, archive := t.TempDir(), sampleArchive(t, "ring-4-plain")
	const q = "select rank, count(*) as n, avg(time_ns) / 1e3 as us, min(operation) as first from calls group by rank"
	var doc outcome.SQL
	if err := json.Unmarshal([]byte(succeed(t, dir, "sql", "--json", archive, q)), &doc); err != nil {
		t.Fatal(err)
	}
	if len(doc.Rows) != 4 || strings.Join(doc.Columns, " ") != "rank n us first" {
		t.Fatalf("%+v", doc)
	}
	csv := succeed(t, dir, "sql", "--format", "csv", archive, q)
	if n := strings.Count(csv, "\n"); n != 5 || !strings.HasPrefix(csv, "rank,n,us,first\n0,") {
		t.Errorf("CSV:\n%s", csv)
	}
	file := filepath.Join(dir, "x.csv")
	succeed(t, dir, "sql", archive, q, "-o", file)
	if got, err := os.ReadFile(file); err != nil || string(got) != csv {
		t.Errorf("the file has\n%swant\n%s%v", got, csv, err)
	}
	succeed(t, dir, "sql", archive, q, "-o", filepath.Join(dir, "x.parquet"))
	if out := succeed(t, dir, "sql", archive, archive,
		"select (select count(*) from a.calls) - (select count(*) from b.calls) as d"); !strings.Contains(out, "\n0\n") {
		t.Errorf("the same trace twice differs: %s", out)
	}
}

// TestSQLReadsQueries states that queries come from standard input, one after the other, and that a wrong one ends it.
func TestSQLReadsQueries(t *testing.T) {
	archive := sampleArchive(t, "ring-4-plain")
	ask := func(text string) (string, string, int) {
		var out, errs bytes.Buffer
		io := &cli.Streams{In: strings.NewReader(text), Out: &out, Err: &errs, Width: 100}
		code := cli.Main(io, []string{"sql", "-q", "--format", "csv", archive}, newRoot)
		return out.String(), errs.String(), code
	}
	if out, errs, code := ask("select 1 as a;\n\nselect\n 2 as b\n;\nselect 3 as c"); code != 0 || out != "a\n1\nb\n2\nc\n3\n" {
		t.Errorf("exit code %d: %s%s", code, out, errs)
	}
	if out, errs, code := ask("select 1 as a;\nselect nowhere from calls;\nselect 2;"); code != 1 || out != "a\n1\n" ||
		!strings.Contains(errs, "no such column: nowhere") {
		t.Errorf("exit code %d: %s%s", code, out, errs)
	}
	if out, errs, code := ask(".help\n.tables\n.quit\nselect 2;"); code != 0 || !strings.HasPrefix(out, promptHelp) ||
		!strings.Contains(out, "late_ranks,view\n") || strings.HasSuffix(out, "2\n") {
		t.Errorf("exit code %d: %s%s", code, out, errs)
	}
	if out, errs, code := ask("select 1 as a; select 2;"); code != 1 || out != "" || !strings.Contains(errs, "one query at a time") {
		t.Errorf("exit code %d: %s%s", code, out, errs)
	}
	if out, errs, code := ask("select * from kernels;"); code != 0 || out != "rank,device,kernel,kind,operator,call,count,time_ns\n" ||
		errs != "kernels is empty: the trace records no device.\n" {
		t.Errorf("exit code %d: %s%s", code, out, errs)
	}
}

// TestSQLRequests states that a program gets a line for each request, also for one that fails, and the document that analyze prints.
func TestSQLRequests(t *testing.T) {
	archive, file := sampleArchive(t, "ring-4-plain"), filepath.Join(t.TempDir(), "x.arrow")
	requests := `{"query":"select rank, 'a' as t from calls where rank < 0 or rank = 1 limit 2"}
{"query":"select nowhere from calls"}
nothing
{"query":"select * from calls","out":"` + file + `"}
{"analysis":["--ranks","0-1"]}
{"analysis":["--nonsense"]}
{"analysis":["--fail-if","trace.events>1"]}
{"query":"select 9e999 as a, -9e999 as b, '<' as c"}
{"analysis":["--ranks","0-1","--json"]}
{"analysis":["--help"]}
{"analysis":["0-1"]}
{}
{"query":5}
{"query":"select 1","out":"` + archive + `/traces.otf2"}
{"query":"select 1","out":"x.txt"}
{"query":"select 1 as a"}
`
	var out, errs bytes.Buffer
	code := cli.Main(&cli.Streams{In: strings.NewReader(requests), Out: &out, Err: &errs, Width: 100},
		[]string{"sql", "-q", "--requests", archive}, newRoot)
	if code != 0 {
		t.Fatalf("exit code %d: %s", code, errs.String())
	}
	var replies []struct {
		Answer map[string]any `json:"answer"`
		Error  string         `json:"error"`
		Code   int            `json:"exit_code"`
	}
	for dec := decoder(&out); dec.More(); {
		replies = append(replies, struct {
			Answer map[string]any `json:"answer"`
			Error  string         `json:"error"`
			Code   int            `json:"exit_code"`
		}{})
		if err := dec.Decode(&replies[len(replies)-1]); err != nil {
			t.Fatal(err)
		}
	}
	for i, want := range []int{0, 0, 1, 1, 0, 0, 2, 4, 0, 0, 2, 2, 1, 1, 2, 2, 0} {
		if r := replies[i]; r.Code != want || (r.Error == "") != (want == 0) || (r.Answer == nil) != (i == 0 || want == 1 || want == 2) {
			t.Errorf("reply %d is %.200v", i, r)
		}
	}
	if errs.Len() > 0 || strings.Contains(replies[13].Error, "Go") {
		t.Errorf("%s%s", errs.String(), replies[13].Error)
	}
	if rows := replies[8].Answer["rows"]; !reflect.DeepEqual(rows, []any{[]any{json.Number("9e999"), json.Number("-9e999"), "<"}}) {
		t.Errorf("infinite numbers are %v", rows)
	}
	var doc map[string]any
	if err := decoder(strings.NewReader(succeed(t, t.TempDir(), "analyze", "--json", "--ranks", "0-1", archive))).Decode(&doc); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(doc, replies[5].Answer) {
		t.Error("the analysis is not the document of analyze")
	}
	if head, err := os.ReadFile(file); err != nil || !strings.HasPrefix(string(head), "ARROW1") {
		t.Errorf("the file: %v", err)
	}
}

// decoder returns a decoder that keeps numbers as they are written.
func decoder(r stdio.Reader) *json.Decoder {
	dec := json.NewDecoder(r)
	dec.UseNumber()
	return dec
}

// TestSQLLongLines states that a line that is too long ends the reading with words.
func TestSQLLongLines(t *testing.T) {
	for _, c := range []struct{ flag, want string }{{"--requests", "more than 16.0 MiB"}, {"--json", "more than 1.00 MiB"}} {
		var out, errs bytes.Buffer
		long := strings.NewReader(strings.Repeat("x", mostRequest+1))
		code := cli.Main(&cli.Streams{In: long, Out: &out, Err: &errs, Width: 100},
			[]string{"sql", "-q", c.flag, sampleArchive(t, "ring-4-plain")}, newRoot)
		if code != 1 || !strings.Contains(errs.String(), c.want) {
			t.Errorf("%s: exit code %d: %s", c.flag, code, errs.String())
		}
	}
}

// TestSQLFilesOfOneTrace states that files are traces of their own unless the user says that they are one; no trace is overwritten.
func TestSQLFilesOfOneTrace(t *testing.T) {
	dir := t.TempDir()
	for i, name := range []string{"a.csv", "b.json"} {
		text := fmt.Sprintf(`{"traceEvents":[{"ph":"X","name":"work","pid":%d,"tid":1,"ts":1,"dur":5}]}`, i)
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	ask := []string{"sql", "-q", "--format", "csv", "a.csv", "b.json", "select count(*) as n from visits"}
	if got := succeed(t, dir, ask...); got != "n\n1\n" {
		t.Errorf("two traces: %q", got)
	}
	if got := succeed(t, dir, append(ask, "--one-trace")...); got != "n\n2\n" {
		t.Errorf("one trace: %q", got)
	}
	if _, errs, code := tracekit(t, dir, append(ask, "-o", "a.csv", "--force")...); code != 2 || !strings.Contains(errs, "input trace") {
		t.Errorf("exit code %d: %s", code, errs)
	}
}

// TestProgressForPrograms states that each stage ends with a line of JSON.
func TestProgressForPrograms(t *testing.T) {
	var out, errs bytes.Buffer
	cli.Main(&cli.Streams{Out: &out, Err: &errs, Width: 100, Progress: true}, []string{"sql", sampleArchive(t, "ring-4-plain"), "select 1"},
		newRoot)
	var last struct {
		Progress    string
		Done, Total int
		Ended       bool
	}
	for line := range strings.Lines(errs.String()) {
		if err := json.Unmarshal([]byte(line), &last); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
	}
	if last.Progress != "analyzing" || !last.Ended || last.Done == 0 || last.Done != last.Total {
		t.Errorf("the last line is %+v", last)
	}
}

// TestSQLOnDevices states that a trace with accelerators has their tables, and those of several traces are found by their names.
func TestSQLOnDevices(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "run.json")
	if err := os.WriteFile(path, []byte(`{"schemaVersion":1,"traceEvents":[
{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":1,"tid":1,"ts":1,"dur":5,"args":{"correlation":1}},
{"ph":"X","cat":"kernel","name":"gemm","pid":0,"tid":7,"ts":10,"dur":20,"args":{"device":0,"stream":7,"correlation":1}}]}`), 0o666); err != nil {
		t.Fatal(err)
	}
	got := succeed(t, dir, "sql", "-q", "--format", "csv", path, path, "select a.devices.busy_ns, b.kernels.call from a.devices, b.kernels")
	if got != "busy_ns,call\n20000,cudaLaunchKernel\n" {
		t.Errorf("got %q", got)
	}
}
