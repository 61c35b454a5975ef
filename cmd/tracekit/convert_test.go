package main

import (
	"encoding/json"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tracekit/stats"
)

// A timed is what of an analysis depends on the clock and on no format.
type timed struct {
	Clock      stats.Clock `json:"clock"`
	WaitStates map[string]struct {
		Count  uint64 `json:"count"`
		TimeNs int64  `json:"time_ns"`
	} `json:"wait_states"`
	Messages stats.Messages `json:"messages"`
}

// command runs a command line and decodes its document.
func command[T any](t *testing.T, dir string, args ...string) (doc T) {
	t.Helper()
	stdout, stderr, code := tracekit(t, dir, append(args, "--json")...)
	if code != exitDone {
		t.Fatalf("%v: %s", args, stderr)
	}
	if err := json.Unmarshal([]byte(stdout), &doc); err != nil {
		t.Fatal(err)
	}
	return doc
}

// skewedTrace writes a trace whose clocks differ by up to 5 ms.
func skewedTrace(t *testing.T, dir, offsets string) string {
	t.Helper()
	path := filepath.Join(dir, offsets)
	if _, stderr, code := tracekit(t, dir, "generate", "halo", "--ranks", "4", "--iterations", "20", "--late-sender", "3000",
		"--skew", "5000000", "--drift", "50", "--offsets", offsets, "-o", path); code != exitDone {
		t.Fatal(stderr)
	}
	return path
}

// TestConvertedClocks states that a copy with corrected times, analysed as it is, gives what
// the original gives with the same correction, in every format; that the document says what
// was done; and that by default only Paraver is corrected.
func TestConvertedClocks(t *testing.T) {
	dir, sample := t.TempDir(), sampleArchive(t, "halo2d-8")
	traces := []string{sample, skewedTrace(t, dir, "right"), skewedTrace(t, dir, "wrong"), skewedTrace(t, dir, "none")}
	for _, original := range traces {
		for _, out := range []string{"copy", "copy.prv", "copy.json", "copy.parquet"} {
			for _, clock := range []string{"", "auto", "none", "offsets", "clc"} {
				name := filepath.Base(original) + " to " + out + " " + clock
				args := []string{"convert", "--force", original, out}
				if clock != "" {
					args = append(args, "--clock", clock)
				} else if clock = "none"; out == "copy.prv" {
					clock = "auto"
				}
				done := command[convertDocument](t, dir, args...)
				want := command[timed](t, dir, "analyze", "--clock", clock, original)
				got := command[timed](t, dir, "analyze", "--clock", "none", out)
				if got.Clock.ViolationsRaw != want.Clock.ViolationsAfter {
					t.Errorf("%s: %d messages run backwards in the copy, %d in the original after correction", name, got.Clock.ViolationsRaw, want.Clock.ViolationsAfter)
				}
				if done.Clock == nil && (len(args) > 4 || out == "copy.prv") || done.Clock != nil && *done.Clock != want.Clock {
					t.Errorf("%s: the document says %+v, the analysis %+v", name, done.Clock, want.Clock)
				}
				if kept := clock == "none"; filepath.Base(original) != "none" && kept != (done.Measured > 0) {
					t.Errorf("%s: measured offsets of %d locations", name, done.Measured)
				}
				got.Clock, want.Clock = stats.Clock{}, stats.Clock{}
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("%s: original is -, copy is +:\n%s", name, diff)
				}
			}
		}
	}
}
