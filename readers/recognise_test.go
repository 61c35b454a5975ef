package readers

import (
	"archive/zip"
	"compress/gzip"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"tracekit/trace"
)

// TestBelongs states that the files of a trace which are not what is opened, the directory of an
// archive's events, and a directory that holds one trace stand for that trace, and what is said
// where there is none or more than one.
func TestBelongs(t *testing.T) {
	dir := t.TempDir()
	put := func(name, text string) {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o777), os.WriteFile(path, []byte(text), 0o666)); err != nil {
			t.Fatal(err)
		}
	}
	const prv = "#Paraver (01/02/2026 at 03:04):9_ns:0:1:1(1:0)\n"
	put("one/run.prv", prv)
	put("one/run.pcf", "STATES\n")
	put("one/run.row", "LEVEL TASK SIZE 0\n")
	put("one/notes.txt", "")
	put("two/a.prv", prv)
	put("two/b.prv", prv)
	put("none/lost.pcf", "STATES\n")
	put("big.json", `{"metadata":"`+strings.Repeat("x", 10_000)+`","traceEvents":[]}`)
	for _, name := range []string{"archive", "outer/archive"} {
		if err := os.CopyFS(filepath.Join(dir, name), os.DirFS(archive)); err != nil {
			t.Fatal(err)
		}
	}
	const events, rocprof = `{"traceEvents":[{"ph":"X","name":"a","pid":1,"tid":1,"ts":1,"dur":1}]}`,
		`{"rocprofiler-sdk-tool":[{"buffer_records":{}}]}`
	put("ranks/a0.json", events)
	put("ranks/a1.json", events)
	put("ranks/config.json", `{"steps":3}`)
	put("tool/7_results.json", rocprof)
	put("tool/8_results.json", rocprof)
	put("tool/config.json", `{"steps":3}`)
	put("hosts/node/7_results.json", rocprof)
	put("both/7_results.json", rocprof)
	put("both/a0.json", events)
	put("tables/1.csv", "rank,start,duration,name\n1,5,2,a\n")
	put("tables/0.csv", "rank,start,duration,name\n0,5,2,a\n")
	put("tables/metrics.csv", "loss,time\n0.1,2\n")
	put("other tables/metrics.csv", "loss,time\n0.1,2\n")
	put("mixed/0.csv", "rank,start,duration,name\n0,5,2,a\n")
	put("mixed/a0.json", events)
	put("7.json.gz", gzipped(t, rocprof))
	put("run.db.gz", gzipped(t, "SQLite format 3\x00"+strings.Repeat("\x00", 100)))
	put("vm.xplane.pb", "\x0a\xe7\x8b\x01\x12\x0e/host:metadata")
	put("app.pftrace", "\x0a\x02\x50\x01")
	for name, format := range map[string]string{"one": "paraver", "one/run.pcf": "paraver", "one/run.row": "paraver",
		"archive/traces.def": "otf2", "archive/traces/0.evt": "otf2", "archive/traces": "otf2", "outer": "otf2", "big.json": "json",
		"vm.xplane.pb": "xplane", "app.pftrace": "perfetto", "ranks": "json", "tool": "rocprofv3", "hosts": "rocprofv3", "tables": "spans"} {
		s, err := Open(t.Context(), filepath.Join(dir, name), OpenOptions{})
		if err != nil {
			t.Error(err)
			continue
		}
		if got := s.Info().Format; got != format {
			t.Errorf("%s: %s, want %s", name, got, format)
		}
		s.Close()
	}
	writeZip(t, filepath.Join(dir, "t.zip"), "run/traces.otf2", "run/traces.def")
	put("t.tar", strings.Repeat("\x00", 257)+"ustar\x00"+strings.Repeat("\x00", 700))
	put("profile.cubex", strings.Repeat("\x00", 257)+"ustar\x00"+strings.Repeat("\x00", 700))
	put("chrome.json", "\x0a\x5f2V\x10\x03\x0a\x09\x08\x06")
	put("model.pb", "\x0a\x05\x0a\x03abc")
	put("tau.trc", "x")
	put("run.nsys-rep", "x")
	put("other.db", "SQLite format 3\x00")
	put("empty.json.gz", gzipped(t, ""))
	for name, want := range map[string]string{"profile.cubex": "SCOREP_ENABLE_TRACING", "chrome.json": "no packet of Perfetto",
		"model.pb": "it looks like a protocol buffer", "tau.trc": "tau_trace2json",
		"run.nsys-rep": "nsys export", "other.db": "an SQLite database, but none",
		"both": "1 of rocprofv3 JSON", "mixed": "1 of spans", "other tables": "--columns", "two": "a.prv", "none/lost.pcf": "a Paraver .prv file",
		"none":  "no trace of a known format",
		"t.zip": "unpack it, and open run/traces.otf2", "t.tar": "tar archive: unpack it", "7.json.gz": "it is a JSON file of rocprofv3 that gzip has compressed",
		"run.db.gz": "it is an SQLite database that gzip", "empty.json.gz": "it is empty but for the frame of gzip"} {
		_, err := Open(t.Context(), filepath.Join(dir, name), OpenOptions{})
		if !errors.Is(err, trace.ErrNotATrace) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", name, err, want)
		}
	}
}

func writeZip(t *testing.T, path string, names ...string) {
	t.Helper()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	z := zip.NewWriter(f)
	for _, name := range names {
		if _, err := z.Create(name); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(z.Close(), f.Close()); err != nil {
		t.Fatal(err)
	}
}

// TestBlocks states that a trace is recognized whose compression is in blocks that are larger than what is looked at first.
func TestBlocks(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	var table, events strings.Builder
	table.WriteString("rank,start,duration,name\n")
	events.WriteString("[")
	for i := range 20_000 {
		fmt.Fprintf(&table, "0,%d,%d,x%x\n", i, random.IntN(1000), random.Uint64())
		fmt.Fprintf(&events, "{\"ph\":\"X\",\"name\":\"x%x\",\"pid\":1,\"tid\":1,\"ts\":%d,\"dur\":1},\n", random.Uint64(), i)
	}
	for name, text := range map[string]string{"table.csv.zst": table.String(), "trace.json.zst": strings.TrimSuffix(events.String(), ",\n") +
		"]"} {
		z, err := zstd.NewWriter(nil)
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(path, z.EncodeAll([]byte(text), nil), 0o666); err != nil {
			t.Fatal(err)
		}
		s, err := Open(t.Context(), path, OpenOptions{})
		if err != nil {
			t.Error(err)
			continue
		}
		if n := len(s.Defs().Regions); n < 19_990 {
			t.Errorf("%s: %d regions", name, n)
		}
		s.Close()
	}
}

// gzipped returns a text as gzip compresses it.
func gzipped(t *testing.T, text string) string {
	var b strings.Builder
	z := gzip.NewWriter(&b)
	if _, err := z.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}
