package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestExplainDamaged: what is wrong with a trace is said beside the chain, as text and in the document.
func TestExplainDamaged(t *testing.T) {
	dir := t.TempDir()
	if err := os.CopyFS(filepath.Join(dir, "ring"), os.DirFS(sampleArchive(t, "ring-4"))); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(dir, "ring", "traces", "3.evt")); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"explain", "ring"}, {"explain", "--json", "ring"}} {
		stdout, stderr, code := tracekit(t, dir, args...)
		if code != exitDone || !strings.Contains(stdout, "missing_file") {
			t.Errorf("%q: exit code %d, %s%s", args, code, stdout, stderr)
		}
	}
}

// TestExplainFiles states that a wait is followed through all files of a trace. What follows them is the wait, though a file has its name.
func TestExplainFiles(t *testing.T) {
	dir := t.TempDir()
	succeed(t, dir, "generate", "training", "--profiles", "--dp", "2", "--pp", "1", "--iterations", "3", "--slow-worker", "1=2", "-o", "job")
	files := []string{"explain", "-q", "job/rank0.pt.trace.json", "job/rank1.pt.trace.json"}
	whole := succeed(t, dir, "explain", "-q", "job")
	if got := succeed(t, dir, files...); got != whole || !strings.Contains(got, "Origin: rank 1") {
		t.Errorf("of files:\n%s\nof their folder:\n%s", got, whole)
	}
	if err := os.Mkdir(filepath.Join(dir, "0@0%"), 0o777); err != nil {
		t.Fatal(err)
	}
	want := succeed(t, dir, "explain", "-q", "job", "0@0%")
	if got := succeed(t, dir, append(files, "0@0%")...); got != want {
		t.Errorf("at a time, of files:\n%s\nof their folder:\n%s", got, want)
	}
}
