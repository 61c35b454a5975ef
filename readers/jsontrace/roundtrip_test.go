package jsontrace_test

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tracekit/readers/jsontrace"
	"tracekit/readers/otf2"
	"tracekit/trace"
	"tracekit/trace/tracetest"
)

// write writes a source and returns what could not be expressed.
func write(t testing.TB, path string, s trace.Source) map[string]uint64 {
	t.Helper()
	w, err := jsontrace.Create(path, s.Info(), s.Defs(), jsontrace.WriteOptions{})
	if err != nil {
		t.Fatal(err)
	}
	tracetest.Copy(t, s, w)
	return w.Lost()
}

// textOf renders definitions and events, without what a format says of itself.
func textOf(t testing.TB, s trace.Source) string {
	t.Helper()
	_, rest, _ := strings.Cut(tracetest.MustFormat(t, s), "\nclock ")
	return rest
}

func open(t testing.TB, paths ...string) *jsontrace.Source {
	t.Helper()
	s, err := jsontrace.Open(context.Background(), paths, jsontrace.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// What is written is read as the same: definitions, times, calls, messages, requests,
// collectives, counters, attributes. The archives have clocks of many resolutions.
func TestRoundTripOfArchives(t *testing.T) {
	for _, dir := range archives(t) {
		t.Run(filepath.Base(dir), func(t *testing.T) {
			in, err := otf2.Open(context.Background(), dir, 0)
			if err != nil {
				t.Skip("not a readable trace")
			}
			defer in.Close()
			path := filepath.Join(t.TempDir(), "t.json.gz")
			if dropped := write(t, path, in); len(dropped) > 0 {
				t.Errorf("dropped: %v", dropped)
			}
			out := open(t, path)
			if f := out.Findings(); len(f) > 0 {
				t.Errorf("findings: %v", f)
			}
			if a, b := textOf(t, in), textOf(t, out); a != b {
				t.Errorf("the trace has changed: %.2000s", cmp.Diff(strings.Split(a, "\n"), strings.Split(b, "\n")))
			}
		})
	}
}

func archives(t testing.TB) []string {
	dirs, err := filepath.Glob(filepath.Join(tracetest.Shared(t, "otf2"), "*"))
	if err != nil {
		t.Fatal(err)
	}
	return dirs
}

// own is a trace with every kind of event, in text form; see testdata/own.txt.
func own(t testing.TB) *trace.MemorySource {
	t.Helper()
	text := tracetest.ReadFile(t, "testdata/own.txt")
	return tracetest.MustParse(t, string(text))
}

// Every kind of event is written as the golden has it, and read as it was; for clocks that
// tick in nanoseconds, in less and in odd parts of a second.
func TestRoundTripOfEverything(t *testing.T) {
	for _, resolution := range []uint64{1e9, 1e6, 1, 2_400_000_001, 3, 1 << 38} {
		s := own(t)
		s.Definitions.Clock.Resolution = resolution
		path := filepath.Join(t.TempDir(), "own.json")
		if dropped := write(t, path, s); len(dropped) > 0 {
			t.Errorf("dropped: %v", dropped)
		}
		if resolution == 1e9 {
			compareGolden(t, path, "testdata/own.json")
		}
		out := open(t, path)
		if f := out.Findings(); len(f) > 0 {
			t.Errorf("findings: %v", f)
		}
		a, b := textOf(t, s), textOf(t, out)
		if d := cmp.Diff(strings.Split(a, "\n"), strings.Split(b, "\n")); d != "" {
			t.Errorf("resolution %d: the trace has changed (-want +got):\n%s", resolution, d)
		}
		if i := out.Info(); i.Creator != "a program" || i.Machine != "cluster" || i.TraceID != 7 || i.Properties["app"] != "x" {
			t.Errorf("info: %+v", i)
		}
	}
}

func compareGolden(t *testing.T, path, golden string) {
	t.Helper()
	got := tracetest.ReadFile(t, path)
	if *update {
		tracetest.WriteFile(t, golden, got)
	}
	want, _ := os.ReadFile(golden)
	if d := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(string(got), "\n")); d != "" {
		t.Errorf("%s (-want +got):\n%s", golden, d)
	}
	if !json.Valid(got) {
		t.Error("this is not valid JSON")
	}
}

// A trace that is not closed, or whose directory is gone, leaves nothing behind; a file
// that exists is not replaced.
func TestNothingIsLeftBehind(t *testing.T) {
	dir := t.TempDir()
	s := own(t)
	w, err := jsontrace.Create(filepath.Join(dir, "t.json"), s.Info(), s.Defs(), jsontrace.WriteOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Write(s.Batches[0][0]); err != nil {
		t.Fatal(err)
	}
	if err := w.Discard(); err != nil {
		t.Fatal(err)
	}
	if left, _ := os.ReadDir(dir); len(left) > 0 {
		t.Errorf("%v is left", left)
	}
	write(t, filepath.Join(dir, "t.json"), s)
	if left, _ := os.ReadDir(dir); len(left) != 1 {
		t.Errorf("%v is left", left)
	}
	if _, err := jsontrace.Create(filepath.Join(dir, "t.json"), s.Info(), s.Defs(), jsontrace.WriteOptions{}); !errors.Is(err, fs.ErrExist) {
		t.Errorf("a file was replaced: %v", err)
	}
}

// Real JSON traces, written in tracekit's dialect, are read as they were.
func TestRoundTripOfJSON(t *testing.T) {
	for _, path := range jsontrace.RealTraces(t) {
		in := open(t, path)
		again := filepath.Join(t.TempDir(), "again.json")
		if dropped := write(t, again, in); len(dropped) > 0 {
			t.Errorf("%s: dropped: %v", path, dropped)
		}
		if a, b := textOf(t, in), textOf(t, open(t, again)); a != b {
			t.Errorf("%s has changed: %.2000s", path, cmp.Diff(strings.Split(a, "\n"), strings.Split(b, "\n")))
		}
	}
}
