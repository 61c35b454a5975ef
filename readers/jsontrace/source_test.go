package jsontrace_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/zstd"
	"github.com/ulikunitz/xz"

	"tracekit/readers/jsontrace"
	"tracekit/spill"
	"tracekit/trace"
	"tracekit/trace/tracetest"
)

func TestSniff(t *testing.T) {
	for text, want := range map[string]bool{
		`[{"ph":"i"}]`: true, "[\n": true, "[ ]": true, `{"traceEvents":[`: true, "\xef\xbb\xbf [{": true,
		`{"schemaVersion":1,"deviceProperties":[{"id":0}`: true, `{"ph":"X","ts":1}`: true,
		`{"x":{"y":[1,2]},"otherData":{}}`: true, `{}{"ph":"i"}`: true,
		"": false, "hello": false, "[1,2]": false, `{"nodes":[{"id":1}]}`: false, `{"nodes":"traceEvents"}`: false,
		"#Paraver (01/01/01 at 00:00):1": false, "{": false, "{}": false, "\x1f\x8b broken": false,
	} {
		if got := jsontrace.Sniff("", []byte(text)); got != want {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
}

// Any amount of metadata may come before the events, more than a window of it too.
func TestSniffFar(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		want bool
	}{
		"trace": {`{"metadata":{"notes":["` + strings.Repeat("x", 1<<20) + `"],"traceEvents":1},"traceEvents":[{"ph":"i","ts":1}]}`, true},
		"list":  {`{"metadata":[` + strings.Repeat("[1,2],", 1<<18) + `0],"traceEvents":[]}`, true},
		"other": {`{"metadata":{"notes":["` + strings.Repeat("x", 1<<20) + `"]},"nodes":[{"ph":"i"}]}`, false},
	} {
		path := filepath.Join(t.TempDir(), name+".json")
		tracetest.WriteFile(t, path, c.text)
		if got := jsontrace.Sniff(path, []byte(c.text[:4096])); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

// A trace is the same however it is compressed, and is recognised.
func TestCompression(t *testing.T) {
	plain := tracetest.ReadFile(t, "testdata/own.json")
	want := textOf(t, open(t, "testdata/own.json"))
	for name, wrap := range map[string]func(io.Writer) (io.WriteCloser, error){
		"gzip": func(w io.Writer) (io.WriteCloser, error) { return gzip.NewWriter(w), nil },
		"zstd": func(w io.Writer) (io.WriteCloser, error) { return zstd.NewWriter(w) },
		"xz":   func(w io.Writer) (io.WriteCloser, error) { return xz.NewWriter(w) },
	} {
		var b bytes.Buffer
		w, err := wrap(&b)
		if err == nil {
			_, err = w.Write(plain)
		}
		if err == nil {
			err = w.Close()
		}
		if err != nil {
			t.Fatal(err)
		}
		if !jsontrace.Sniff("", b.Bytes()[:min(4096, b.Len())]) {
			t.Errorf("%s: not recognised", name)
		}
		path := filepath.Join(t.TempDir(), name)
		tracetest.WriteFile(t, path, b.Bytes())
		s := open(t, path)
		if got := textOf(t, s); got != want {
			t.Errorf("%s: another trace", name)
		}
		s.Close()
	}
}

// The result does not depend on how much memory there is, nor on the order in which files
// of ranks are named.
func TestSameResult(t *testing.T) {
	paths, _ := filepath.Glob(filepath.Join(tracetest.Shared(t, "json"), "dlrm-8rank", "*.gz"))
	want := outcome(t, paths, jsontrace.Options{})
	store := spill.NewStore(0, t.TempDir())
	defer store.Close()
	if got := outcome(t, paths, jsontrace.Options{Store: store}); got != want {
		t.Error("with little memory another result")
	}
	backwards := make([]string, len(paths))
	for i, p := range paths {
		backwards[len(paths)-1-i] = p
	}
	_, a, _ := strings.Cut(outcome(t, backwards, jsontrace.Options{}), "\n")
	_, b, _ := strings.Cut(want, "\n")
	if a != b {
		t.Error("with the files in another order another result")
	}
}

// A directory stands for the traces in it, and nothing else.
func TestFiles(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"rank1.json": "[{}]", "rank0.pfw": "[\n{\"ph\":\"i\"}", "notes.json": `{"a":1}`,
		"other.txt": "[{}]"} {
		tracetest.WriteFile(t, filepath.Join(dir, name), text)
	}
	got := jsontrace.Files(dir)
	if len(got) != 2 || filepath.Base(got[0]) != "rank0.pfw" || filepath.Base(got[1]) != "rank1.json" {
		t.Errorf("%v", got)
	}
}

// A cancelled context ends opening and reading.
func TestCancel(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	s := open(t, "testdata/own.json")
	cancel()
	if _, err := jsontrace.Open(ctx, []string{"testdata/own.json"}, jsontrace.Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("opening: %v", err)
	}
	for _, err := range s.Events(ctx, 0) {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("reading: %v", err)
		}
	}
}

// What cannot be expressed is counted.
func TestDropped(t *testing.T) {
	s := own(t)
	s.Definitions.Clock.Resolution = 1e12
	w, err := jsontrace.Create(filepath.Join(t.TempDir(), "x.json"), s.Info(), s.Defs(), jsontrace.WriteOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Discard()
	var b trace.Batch
	b.AddFlow(5, trace.KindEnter, 1<<20)
	b.AddFlow(5, trace.KindEnter, 0)
	b.AddFlow(4, trace.KindLeave, 0)
	b.AddMetric(9, 0, []trace.ValueType{trace.TypeDouble}, []uint64{0})
	if err := w.Write(&b); err != nil {
		t.Fatal(err)
	}
	undefined := trace.Batch{Location: 99}
	if w.Write(&undefined) == nil {
		t.Error("a location that does not exist was written")
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(map[string]uint64{
		"times of a clock with ticks shorter than 2 ps":       1,
		"a call of a region that is not defined":              1,
		"the order of events whose time runs backwards":       1,
		"a counter value of another type than its definition": 1,
	}, w.Lost()); d != "" {
		t.Error(d)
	}
}
