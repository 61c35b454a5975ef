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
