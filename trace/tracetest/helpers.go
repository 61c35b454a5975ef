package tracetest

import (
	"bytes"
	"compress/gzip"
	"context"
	"iter"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"tracekit/trace"
)

// Batches iterates over the events of a location.
func Batches(t testing.TB, src trace.Source, l trace.LocationID) iter.Seq[*trace.Batch] {
	return func(yield func(*trace.Batch) bool) {
		t.Helper()
		for b, err := range src.Events(t.Context(), l) {
			if err != nil {
				t.Fatal(err)
			}
			if !yield(b) {
				return
			}
		}
	}
}

// Copy writes all events of a trace to a sink, location by location, and closes it.
func Copy(t testing.TB, src trace.Source, w trace.Sink) {
	t.Helper()
	for l := range src.Defs().Locations {
		for b := range Batches(t, src, trace.LocationID(l)) {
			if err := w.Write(b); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
}

// Inside makes location 0 of a trace enter region 0 so many times before all that it does otherwise.
func Inside(src *trace.MemorySource, times int) *trace.MemorySource {
	outer := new(trace.Batch)
	outer.Reset(0, 0)
	for range times {
		outer.AddFlow(0, trace.KindEnter, 0)
	}
	for _, b := range src.Batches[0] {
		b.First += uint64(times)
		for _, seqs := range [][]uint64{b.Flow.Seq, b.P2P.Seq, b.Coll.Seq, b.Metric.Seq, b.Other.Seq, b.Attrs.Seq} {
			for i := range seqs {
				seqs[i] += uint64(times)
			}
		}
	}
	src.Batches[0] = slices.Insert(src.Batches[0], 0, outer)
	src.Definitions.Locations[0].Events += uint64(times)
	return src
}

// LiveBytes returns the size of what is alive on the heap. What is pooled outlives one collection of
// garbage, and what has a cleanup may need another.
func LiveBytes() int64 {
	for range 3 {
		runtime.GC()
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// Need skips a test that needs what is not there; what says where to get it, too. What is needed beyond Go
// and the repository goes through here: scripts/test lists tests that are skipped by these words.
func Need(t testing.TB, what string) {
	t.Helper()
	t.Skip("needs " + what)
}

// Program returns the path of a program that a package of Debian has, and skips the test if it is not there.
func Program(t testing.TB, name, debian string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		Need(t, name+" (Debian: "+debian+")")
	}
	return path
}

const moreTraces = "more real traces (TRACEKIT_SHARED: the folder that has traces/)"

// SharedFolder is the folder of further real traces, which need not be there: that which the variable
// TRACEKIT_SHARED names, or traces in the folder shared beside the repository.
func SharedFolder() string {
	root := os.Getenv("TRACEKIT_SHARED")
	if root == "" {
		_, file, _, _ := runtime.Caller(0)
		root = filepath.Join(filepath.Dir(file), "..", "..", "..", "shared")
	}
	return filepath.Join(root, "traces")
}

// Shared returns a path below the folder of further real traces, and skips the test if it is not there.
func Shared(t testing.TB, path ...string) string {
	t.Helper()
	if first, _, _ := strings.Cut(filepath.ToSlash(filepath.Join(path...)), "/"); first == "traces" {
		t.Fatalf("%q is below traces already", path)
	}
	full := filepath.Join(append([]string{SharedFolder()}, path...)...)
	if _, err := os.Stat(full); err != nil {
		Need(t, moreTraces)
	}
	return full
}

// MoreTraces returns what matches patterns below the folder of further real traces. If nothing does, a
// test of that name inside t is skipped and t goes on.
func MoreTraces(t *testing.T, patterns ...string) (paths []string) {
	t.Helper()
	for _, pattern := range patterns {
		some, err := filepath.Glob(filepath.Join(SharedFolder(), filepath.FromSlash(pattern)))
		if err != nil {
			t.Fatal(err)
		}
		paths = append(paths, some...)
	}
	if len(paths) == 0 {
		t.Run("more traces", func(t *testing.T) { Need(t, moreTraces) })
	}
	return paths
}

// Cases runs a test with the parts of each txtar file of testdata that matches a pattern, by name.
func Cases(t *testing.T, pattern string, test func(t *testing.T, parts map[string]string)) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("testdata", pattern))
	if err != nil || len(files) == 0 {
		t.Fatal("no cases: ", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			parts := make(map[string]string)
			for _, f := range archive.Files {
				parts[f.Name] = string(f.Data)
			}
			test(t, parts)
		})
	}
}

// CheckLines compares lines that are wanted with those that are found. Each says by its first word of
// what kind it is: of the kinds of which some are wanted, all are.
func CheckLines(t testing.TB, want string, found []string) {
	t.Helper()
	lines := strings.Split(strings.TrimSpace(want), "\n")
	kinds := make(map[string]bool)
	for _, line := range lines {
		kinds[strings.Fields(line)[0]] = true
	}
	found = slices.DeleteFunc(found, func(line string) bool { return !kinds[strings.Fields(line)[0]] })
	if diff := cmp.Diff(lines, found); diff != "" {
		t.Errorf("- is wanted, + is found:\n%s", diff)
	}
}

// Gzip returns data compressed.
func Gzip(data []byte) []byte {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	w.Write(data)
	w.Close()
	return b.Bytes()
}

// A Changing is a context that calls a function when it is first asked whether it has ended.
type Changing struct {
	context.Context
	Change func()
}

// Err calls the function, once.
func (c *Changing) Err() error {
	if c.Change != nil {
		c.Change()
		c.Change = nil
	}
	return nil
}

// WriteFile makes a file.
func WriteFile[S string | []byte](t testing.TB, path string, data S) {
	t.Helper()
	if err := os.WriteFile(path, []byte(data), 0o644); err != nil {
		t.Fatal(err)
	}
}

// ReadFile returns what is in a file.
func ReadFile(t testing.TB, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}
