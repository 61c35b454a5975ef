package main

import (
	"path/filepath"
	"strings"
	"testing"
)

// A trace rebuilt from statistics says so in every command and through every format: in the
// first line of text, in documents, and what a model made is marked. A recorded one never does.
func TestRebuiltTracesSaySo(t *testing.T) {
	dir := t.TempDir()
	must := func(args ...string) string {
		t.Helper()
		stdout := succeed(t, dir, args...)
		return stdout
	}
	archive := sampleArchive(t, "masterworker-4")
	must("compress", "--mode", "stat", archive, "-o", "mw.tkf")
	must("compress", archive, "-o", "lossless.tkf")
	traces := []string{"mw.tkf", "otf2", "x.prv", "z.prv.gz", "x.json", "x.arrow", "x.parquet", "again.tkf"}
	for _, name := range traces[1 : len(traces)-1] {
		first, _, _ := strings.Cut(must("reconstruct", "mw.tkf", "-o", name), "\n")
		if !strings.HasPrefix(first, "Rebuilt, not recorded; from mw.tkf: formulae of 18 terms") {
			t.Errorf("reconstruct -o %s says first: %s", name, first)
		}
	}
	must("compress", "x.prv", "-o", "again.tkf")
	for _, name := range append(traces, archive, "lossless.tkf") {
		rebuilt := name != archive && name != "lossless.tkf"
		for _, args := range [][]string{
			{"analyze"}, {"info"}, {"fit"}, {"spacetime", "--force", "-o", "x.png"}, {"compare", archive}, {"convert", name, "--force",
				"y.json"},
			{"compress", "--force", "-o", "y.tkf"},
		} {
			if args[0] != "convert" {
				args = append(args, name)
			}
			first, _, _ := strings.Cut(must(args...), "\n")
			if says := strings.Contains(first, "ebuilt, not recorded; from mw.tkf"); says != rebuilt {
				t.Errorf("%v says first: %s", args, first)
			}
			var doc any
			decode(t, must(append([]string{args[0], "--json"}, args[1:]...)...), &doc)
			if says := isRebuilt(doc); says != rebuilt {
				t.Errorf("%v --json: rebuilt %v", args, says)
			}
		}
		report := must("analyze", "--full", name)
		for _, mark := range []string{"≈ Wait states", "≈ Critical path", "≈ What makes other ranks wait", "≈ late partner", "≈ " +
			"Overhead of",
			"≈ latency", "≈ serialization", "≈ skew"} {
			if strings.Contains(report, mark) != rebuilt {
				t.Errorf("analyze %s: %q is there: %v", name, mark, !rebuilt)
			}
		}
		if marked := strings.Contains(must("compare", archive, name), "  ≈ "); marked != rebuilt {
			t.Errorf("compare with %s: waits are marked: %v", name, marked)
		}
		// Messages are those of the run, so nothing is lost.
		if _, stderr, code := tracekit(t, dir, "analyze", "--strict", name); code != exitDone {
			t.Errorf("analyze --strict %s: exit code %d: %s", name, code, stderr)
		}
	}
	if _, stderr, code := tracekit(t, dir, "compress", "--strict", "--force", "--mode", "stat", archive, "-o", "mw.tkf"); code != exitDone {
		t.Errorf("compress --strict: exit code %d: %s", code, stderr)
	}
}

// A file of formulae that did not learn who answers whom is read, in an older version of the format too, and is no substitute for the run.
func TestStrictRefusesGuesses(t *testing.T) {
	path, err := filepath.Abs("testdata/version5.tkf")
	if err != nil {
		t.Fatal(err)
	}
	if _, stderr, code := tracekit(t, t.TempDir(), "analyze", "--strict", path); code != exitGate ||
		!strings.Contains(stderr, "senders of receives (1 not learned: 49.2 % of the messages") {
		t.Errorf("analyze --strict: exit code %d: %s", code, stderr)
	}
}

// isRebuilt reports whether a key "rebuilt" anywhere in a document says so.
func isRebuilt(v any) bool {
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			if isRebuilt(e) {
				return true
			}
		}
	case map[string]any:
		for k, e := range v {
			if m, ok := e.(map[string]any); ok && k == "rebuilt" && m["from"] != "" || isRebuilt(e) {
				return true
			}
			if list, ok := e.([]any); ok && k == "rebuilt" {
				for _, m := range list {
					if m != nil {
						return true
					}
				}
			}
		}
	}
	return false
}
