package main

import (
	"path/filepath"
	"strings"
	"testing"
)

// TestSee runs the command that each cause of the samples names.
func TestSee(t *testing.T) {
	archives, err := filepath.Glob(filepath.Join(filepath.Dir(sampleArchive(t, "halo2d-8")), "*"))
	if err != nil || len(archives) == 0 {
		t.Fatal(archives, err)
	}
	dir, seen := t.TempDir(), 0
	for _, path := range archives {
		for line := range strings.Lines(succeed(t, dir, "analyze", "-q", "--section", "causes", path)) {
			if _, command, ok := strings.Cut(line, "See: tracekit "); ok {
				seen++
				succeed(t, dir, arguments(strings.Replace(command, "TRACE", path, 1))...)
			}
		}
	}
	if seen == 0 {
		t.Error("no cause of the samples names a command")
	}
}
