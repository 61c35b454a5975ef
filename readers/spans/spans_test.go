package spans

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/parquet"
	"github.com/apache/arrow/go/v15/parquet/compress"
	"github.com/google/go-cmp/cmp"

	"tracekit/merge"
	"tracekit/readers/internal/recording"
	"tracekit/readers/internal/recording/recordingtest"
	"tracekit/readers/internal/wire"
	"tracekit/trace"
	"tracekit/trace/tracetest"
)

var update = flag.Bool("update", false, "write the goldens, and the tables that they are of")

// opener opens tables without further options.
var opener = recordingtest.Opener(func(ctx context.Context, paths []string, o recording.Options) (*recording.Source, error) {
	return Open(ctx, paths, Options{Options: o})
})

// files are the tables of the golden: one of each rank.
var files = [2]string{"rank0.csv", "rank1.parquet"}

// written returns a table of the golden.
func written(t testing.TB, i int) []byte {
	if i == 0 {
		return csvOf(job(0))
	}
	return parquetOf(t, job(1), 1<<20)
}

// TestGolden states what becomes of two tables that are one trace.
func TestGolden(t *testing.T) {
	var paths []string
	for i, name := range files {
		path := filepath.Join("testdata", "run", name)
		if *update {
			tracetest.WriteFile(t, path, written(t, i))
		}
		paths = append(paths, path)
	}
	if *update { // another form, to be damaged
		tracetest.WriteFile(t, filepath.Join("testdata", "job", "job.arrow"), arrowOf(t, slices.Concat(job(0), job(1)), true, false))
	}
	got := recordingtest.Render(t, opener.Open(t, recording.Options{Jobs: 1}, paths...))
	recordingtest.Golden(t, got, filepath.Join("testdata", "run.txt"), *update)
	for _, jobs := range []int{1, 3} {
		if d := cmp.Diff(got, recordingtest.Render(t, opener.Open(t, recording.Options{Jobs: jobs}, paths[1], paths[0]))); d != "" {
			t.Errorf("%d jobs: %s", jobs, d)
		}
	}
}

// rows returns the spans of a trace as lines, with what is known of each.
func rows(t testing.TB, s trace.Source) (out []string) {
	t.Helper()
	for line := range strings.Lines(tracetest.MustFormat(t, s)) {
		if strings.Contains(line, "Enter") || strings.Contains(line, "Leave") {
			out = append(out, strings.TrimSpace(line))
		}
	}
	return out
}

// TestForms states that a table has the same spans in whatever form it is written.
func TestForms(t *testing.T) {
	lines := slices.Concat(job(0), job(1))
	all := forms(t, lines)
	want := rows(t, opener.Bytes(t, "x", all["csv"]))
	if len(want) != len(lines) {
		t.Fatalf("%d spans, want %d", len(want), len(lines))
	}
	for name, data := range all {
		if !Sniff("x", data[:min(len(data), 4096)]) {
			t.Errorf("%s is not recognized", name)
		}
		s := opener.Bytes(t, "x", data)
		if d := cmp.Diff(want, rows(t, s)); d != "" {
			t.Errorf("%s: %s", name, d)
		}
		if f := s.Findings(); len(f) > 0 {
			t.Errorf("%s: %+v", name, f)
		}
	}
}

// TestMeaning states which names of columns mean what.
func TestMeaning(t *testing.T) {
	for name, want := range map[string]struct {
		f    field
		unit float64
	}{"start_ts": {fieldStart, 0}, "Start (us)": {fieldStart, 1e3}, "duration_ns": {fieldDuration, 1}, "dur": {fieldDuration, 0},
		"End-Time ms": {fieldEnd, 1e6}, "optype": {fieldName, 0}, "DP Rank": {fieldDP, 0}, "gmc": {fieldModelChunk, 0}} {
		if f, unit, ok := meaning(name); !ok || f != want.f || unit != want.unit {
			t.Errorf("%s means %s in %v", name, synonyms[f][0], unit)
		}
	}
	for _, name := range []string{"", "color", "rank_ns", "step_ms", "_s"} {
		if f, _, ok := meaning(name); ok {
			t.Errorf("%q means %s", name, synonyms[f][0])
		}
	}
	seen := make(map[string]bool)
	for _, names := range synonyms {
		for _, n := range names {
			if seen[n] {
				t.Errorf("%s means two things", n)
			}
			seen[n] = true
		}
	}
}

// openText opens a CSV text with options.
func openText(t testing.TB, text string, o Options) (*recording.Source, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "x.csv")
	tracetest.WriteFile(t, path, text)
	o.Jobs = 1
	s, err := Open(t.Context(), []string{path}, o)
	if err == nil {
		t.Cleanup(func() { s.Close() })
	}
	return s, err
}

// TestColumns states that the caller says what columns mean, and in which unit times are.
func TestColumns(t *testing.T) {
	const text = "ts_x,op_x,len,who\n5,a,2,0\n9,b,1,1\n"
	if _, err := openText(t, text, Options{}); !errors.Is(err, trace.ErrNotATrace) || !strings.Contains(err.Error(), "start, name, duration") {
		t.Errorf("a table without known columns: %v", err)
	}
	columns := map[string]string{"start": "ts_x", "name": "op_x", "duration": "len", "rank": "who"}
	for unit, factor := range map[string]int64{"": 1, "ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9} {
		s, err := openText(t, text, Options{Columns: columns, Unit: unit})
		if err != nil {
			t.Fatal(err)
		}
		if d := s.Defs(); len(d.LocationGroups) != 2 || d.Clock.GlobalOffset != 5*factor || int64(d.Clock.Length) != 5*factor {
			t.Errorf("unit %q: %d processes from %d for %d", unit, len(d.LocationGroups), d.Clock.GlobalOffset, d.Clock.Length)
		}
	}
	columns["start"] = "nowhere"
	if _, err := openText(t, text, Options{Columns: columns}); !errors.Is(err, trace.ErrNotATrace) {
		t.Errorf("a column that is not there: %v", err)
	}
}

// TestBadRows states that rows without what they need are left out, and that a finding names the first.
func TestBadRows(t *testing.T) {
	s, err := openText(t, "rank,start,end,name\n0,1,5,a\n0,x,6,b\n0,7,6,c\n0,8,,d\n0,9,10,\n0,10\n1,10,12,e\n0,inf,3,f\nx?,1,2,g\n0,1,2,\xff\ncuda:0,20,22,h\n", Options{})
	if err != nil {
		t.Fatal(err)
	}
	if n := len(rows(t, s)); n != 3 {
		t.Errorf("%d spans, want three", n)
	}
	f := s.Findings()
	if len(f) != 1 || f[0].Code != trace.CodeBadValue || f[0].Count != 8 || !strings.Contains(f[0].Text, "row 2: no start") {
		t.Errorf("findings: %+v", f)
	}
}

// TestNestedColumns states that columns of lists, records and maps, with and without values, disturb nobody who does not need them;
// pyarrow has written them, in pages of both versions.
func TestNestedColumns(t *testing.T) {
	read := func(name string) (trace.Source, error) {
		s, err := Open(t.Context(), []string{filepath.Join("testdata", "nested", name)}, Options{Options: recording.Options{Jobs: 1}})
		if err == nil {
			t.Cleanup(func() { _ = s.Close() })
		}
		return s, err
	}
	flat, err := read("flat.parquet")
	if err != nil {
		t.Fatal(err)
	}
	want := rows(t, flat)
	for _, name := range []string{"nulls.parquet", "nulls2.parquet"} {
		s, err := read(name)
		if err != nil {
			t.Fatal(err)
		}
		if got := rows(t, s); len(want) == 0 || !slices.Equal(got, want) || len(s.Findings()) > 0 {
			t.Errorf("%s: %d spans, findings %v; want the %d of the table without them", name, len(got), s.Findings(), len(want))
		}
	}
	if _, err := read("list.parquet"); !errors.Is(err, trace.ErrNotATrace) || !strings.Contains(err.Error(), `"start_ns" holds lists`) {
		t.Errorf("a start that is a list: %v", err)
	}
}

// TestRowWithoutRank states that a row without a rank, in a table of ranks, is lost and told.
func TestRowWithoutRank(t *testing.T) {
	s, err := openText(t, "rank,start,end,name\n0,1,5,a\n,5,6,b\n1,7,8,c\n", Options{})
	if err != nil {
		t.Fatal(err)
	}
	f := s.Findings()
	if n := len(rows(t, s)); n != 2 || len(f) != 1 || f[0].Code != trace.CodeBadValue || f[0].Count != 1 {
		t.Errorf("%d spans, want two; findings %+v", n, f)
	}
}

// TestLongNames states that long names of threads and spans are cut, and still told apart.
func TestLongNames(t *testing.T) {
	long := strings.Repeat("x", 20*wire.NameLimit)
	src, err := openText(t, fmt.Sprintf("rank,start,dur,name,thread,cat\n0,1,1,%[1]sa,%[1]sa,%[1]s\n0,1,1,%[1]sb,%[1]sb,%[1]s\n", long),
		Options{})
	if err != nil {
		t.Fatal(err)
	}
	defs := src.Defs()
	if len(defs.Locations) != 2 || len(defs.Regions) != 2 {
		t.Errorf("%d locations and %d regions, want 2 and 2", len(defs.Locations), len(defs.Regions))
	}
	for _, name := range defs.Strings {
		if len(name) > wire.NameLimit+100 {
			t.Errorf("a name of %d bytes", len(name))
		}
	}
}

// TestSteps states that times that count from the begin of their step are told from those that do not.
func TestSteps(t *testing.T) {
	for name, c := range map[string]struct {
		starts [4]int // of two spans in each of two steps, each 10 long
		want   int64  // length of the run
	}{"relative": {[4]int{0, 10, 0, 10}, 40}, "absolute": {[4]int{0, 10, 20, 30}, 40}, "overlapping": {[4]int{0, 10, 15, 25}, 35}} {
		text := "rank,step,start,duration,name\n"
		for i, at := range c.starts {
			text += fmt.Sprintf("0,%d,%d,10,x\n", i/2, at)
		}
		s, err := openText(t, text, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if got := int64(s.Defs().Clock.Length); got != c.want {
			t.Errorf("%s: the run takes %d, want %d", name, got, c.want)
		}
	}
}

// TestCutSteps states that a step that is cut at its begin, and one without length, do not hide that times count from the begin of steps.
func TestCutSteps(t *testing.T) {
	s, err := openText(t, "rank,step,start,duration,name\n0,1,15,5,x\n0,2,0,20,x\n0,3,0,20,x\n0,4,0,20,x\n0,5,0,0,x\n", Options{})
	if err != nil {
		t.Fatal(err)
	}
	if got := s.Defs().Clock.Length; got != 65 {
		t.Errorf("the run takes %d, want 65", got)
	}
}

// TestDates states that times of CSV may be dates, and durations those of pandas.
func TestDates(t *testing.T) {
	s, err := openText(t, "rank,start,duration,name\n0,2026-03-01 10:00:00,0 days 00:00:01.5,a\n0,2026-03-01T10:00:02.25Z,00:00:00.75,b\n"+
		"0,2026-03-01 10:00:03,1 days,c\n0,yesterday,00:00:01,d\n", Options{})
	if err != nil {
		t.Fatal(err)
	}
	if c := s.Defs().Clock; c.GlobalOffset != 1772359200e9 || c.Length != 3e9 || len(rows(t, s)) != 2 {
		t.Errorf("from %d for %d, %d spans", c.GlobalOffset, c.Length, len(rows(t, s)))
	}
	if f := s.Findings(); len(f) != 1 || f[0].Count != 2 {
		t.Errorf("findings: %+v", f)
	}
}

// TestNoRow states that a table without a valid row is an error that says why.
func TestNoRow(t *testing.T) {
	_, err := openText(t, "rank,start,duration,name\n0,soon,1,a\n0,later,1,b\n", Options{})
	if !errors.Is(err, trace.ErrNotATrace) || !strings.Contains(err.Error(), "none of its rows is valid: row 1: no start") {
		t.Error(err)
	}
	data := parquetOf(t, job(0), 1<<20, parquet.WithCompression(compress.Codecs.Brotli))
	path := filepath.Join(t.TempDir(), "x.parquet")
	tracetest.WriteFile(t, path, data)
	if _, err := Open(t.Context(), []string{path}, Options{}); !errors.Is(err, trace.ErrNotATrace) ||
		!strings.Contains(err.Error(), "compression BROTLI") {
		t.Error(err)
	}
}

// TestEachWorker states that ranks between those of a table that has each worker of a job are not missing: they are further devices of
// the workers. Without a worker, or with ranks that are unequally far apart, they may be.
func TestEachWorker(t *testing.T) {
	for name, c := range map[string]struct {
		rows string
		code trace.Code
	}{
		"each":      {"0,0,0 2,0,1 4,1,0 6,1,1", trace.CodeWorkerRank},
		"one less":  {"0,0,0 2,0,1 6,1,1", trace.CodeMissingRank},
		"twice":     {"0,0,0 2,0,0 4,1,0 6,1,1", trace.CodeMissingRank},
		"unequal":   {"0,0,0 2,0,1 4,1,0 7,1,1", trace.CodeMissingRank},
		"no places": {"0,, 2,, 4,, 6,,", trace.CodeMissingRank},
	} {
		text := "rank,dp_rank,stage,start,duration,name\n"
		for _, r := range strings.Fields(c.rows) {
			text += r + ",0,10,x\n"
		}
		s, err := openText(t, text, Options{})
		if err != nil {
			t.Fatal(err)
		}
		merged, err := merge.Merge(t.Context(), s, merge.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer merged.Release()
		if f := merged.Findings; len(f) != 1 || f[0].Code != c.code {
			t.Errorf("%s: findings %+v, want %s", name, f, c.code)
		}
	}
}

// TestMessages states that sends and receives with a peer are messages, and that devices have streams.
func TestMessages(t *testing.T) {
	s, err := openText(t, "rank,start,duration,name,peer,bytes,device,stream,group\n0,1,5,isend,1,64,,,pp\n1,2,6,irecv,0,64,,,pp\n"+
		"1,3,9,gemm,,,0,7,\n1,4,2,gemm2,,,0,8,\n", Options{})
	if err != nil {
		t.Fatal(err)
	}
	text := tracetest.MustFormat(t, s)
	for _, want := range []string{"MpiSend", "MpiRecv", "stream 7", "stream 8", "GPU 0", "group"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %s in\n%s", want, text)
		}
	}
}

// TestDamaged reads tables that are cut, or of which bits are flipped.
func TestDamaged(t *testing.T) {
	lines := slices.Concat(job(0), job(1))
	for name, data := range forms(t, lines) {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "x")
			for cut := 0; cut < len(data); cut += 1 + len(data)/60 {
				if s := opener.Try(t, path, data[:cut]); s != nil {
					if events := len(rows(t, s)); events > len(lines) {
						t.Errorf("cut at %d: %d events", cut, events)
					}
					s.Close()
				}
			}
			opener.Flips(t, "x", data, 100)
		})
	}
}

// TestCutArrow states that the sound records of an Arrow file that is cut off are read.
func TestCutArrow(t *testing.T) {
	data := arrowOf(t, job(0), false, false)
	s := opener.Bytes(t, "x", data[:bytes.LastIndex(data, []byte("ARROW1"))-100])
	if n := len(rows(t, s)); n != len(job(0)) {
		t.Errorf("%d spans", n)
	}
	s = opener.Bytes(t, "x", data[:len(data)/2])
	if recordingtest.Count(s, trace.CodeTruncated) != 1 {
		t.Errorf("findings of half a file: %+v", s.Findings())
	}
}

// TestSniff tells tables from other files.
func TestSniff(t *testing.T) {
	for data, is := range map[string]bool{"": false, "{}": false, "a b c\n1 2 3\n": false, "1,2,3\n4,5,6\n": false,
		"rank,start,end,name\n": true,
		"x,y,z\n1,2,3\n4,5,6\n": true, "#Paraver (1,2,3)\n1,2,3\n": false, "PAR1": true, "name,start\n": false, "import a, b, c\nx\n": false} {
		if got := Sniff("x", []byte(data)); got != is {
			t.Errorf("%.30q: %v", data, got)
		}
	}
}

// FuzzRead states that no bytes break what a source promises.
func FuzzRead(f *testing.F) {
	var seeds [][]byte
	all := forms(f, job(1))
	for _, name := range []string{"csv", "csv.gz", "quoted", "arrow", "arrow stream", "arrow lz4", "parquet", "parquet v2", "parquet plain",
		"parquet small page"} {
		seeds = append(seeds, all[name])
	}
	opener.Fuzz(f, "x", seeds...)
}
