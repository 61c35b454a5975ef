package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"tracekit/document/outcome"
)

// TestFormulaeOfRuns states that runs are compared in the order of their sizes: formulae of a longer run are no larger than their bound,
// and each picture is there.
func TestFormulaeOfRuns(t *testing.T) {
	dir := t.TempDir()
	for _, n := range []string{"40", "10"} {
		if _, stderr, code := tracekit(t, dir, "generate", "halo", "--processes", "4", "--iterations", n, "-o",
			filepath.Join(dir, n)); code != 0 {
			t.Fatal(stderr)
		}
	}
	pictures := filepath.Join(dir, "pictures")
	out, stderr, code := tracekit(t, dir, "formulae", "--json", "--each", filepath.Join(dir, "40"), filepath.Join(dir, "10"), "-o", pictures)
	if code != 0 {
		t.Fatal(stderr)
	}
	var doc outcome.FormulaeStudy
	if err := json.Unmarshal([]byte(out), &doc); err != nil {
		t.Fatal(err)
	}
	if len(doc.Runs) != 2 || doc.Runs[0].Path != filepath.Join(dir, "10") || doc.Runs[1].Records <= doc.Runs[0].Records {
		t.Fatalf("runs: %v", doc.Runs)
	}
	for _, r := range doc.Runs {
		for _, f := range []outcome.StudiedFile{r.Means, r.Laws} {
			if f.Bytes == 0 || f.Bytes > f.Bound || f.Bytes > r.Bytes || f.Compress <= 0 {
				t.Errorf("%s: %+v of %d bytes", r.Path, f, r.Bytes)
			}
		}
	}
	for _, name := range []string{"formulae-size", "formulae-ratio", "formulae-error", "formulae-time"} {
		if _, err := os.Stat(filepath.Join(pictures, name+".png")); err != nil {
			t.Error(err)
		}
	}
}
