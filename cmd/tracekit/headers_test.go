package main

import (
	"path/filepath"
	"testing"

	"tracekit/trace/tracetest"
)

// TestHeadersDependOnTheTraceAlone: neither jobs nor memory change the document or the picture.
func TestHeadersDependOnTheTraceAlone(t *testing.T) {
	dir, archive := t.TempDir(), sampleArchive(t, "zoo-4")
	var document, picture string
	for i, args := range [][]string{{"--jobs", "1"}, {"--jobs", "4"}, {"--memory", "0"}} {
		out := filepath.Join(dir, "views.svg")
		got := succeed(t, dir, append([]string{"headers", "--json", "--force", "-o", out, archive}, args...)...)
		drawn := tracetest.ReadFile(t, out)
		if i == 0 {
			document, picture = got, string(drawn)
		}
		if got != document || string(drawn) != picture {
			t.Errorf("%v changes document or picture", args)
		}
	}
}

// TestHeadersRefuse what cannot be meant.
func TestHeadersRefuse(t *testing.T) {
	archive := sampleArchive(t, "ring-4-plain")
	for _, args := range [][]string{{"--sample", "1"}, {"--sample", "1,1"}, {"--sample", "a,b"}, {"--transfers", "x"},
		{"--monitoring", "2s"}, {"--top", "0"}, {"-o", "x.jpg"}} {
		if _, stderr, code := tracekit(t, t.TempDir(), append([]string{"headers", "nowhere"}, args...)...); code != exitUsage {
			t.Errorf("%v: exit code %d, %s", args, code, stderr)
		}
	}
	for _, args := range [][]string{{"--sample", "0,9"}, {"--ranks", "9"}} {
		if _, stderr, code := tracekit(t, t.TempDir(), append([]string{"headers", archive}, args...)...); code != exitFailed {
			t.Errorf("%v: exit code %d, %s", args, code, stderr)
		}
	}
}
