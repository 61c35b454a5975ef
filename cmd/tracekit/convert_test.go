package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tracekit/document"
	"tracekit/document/outcome"
	"tracekit/trace/tracetest"
)

// A timed is what of an analysis depends on the clock and on no format.
type timed struct {
	Clock      document.Clock `json:"clock"`
	WaitStates map[string]struct {
		Count  uint64 `json:"count"`
		TimeNs int64  `json:"time_ns"`
	} `json:"wait_states"`
	Messages document.Messages `json:"messages"`
}

// command runs a command line and decodes its document.
func command[T any](t *testing.T, dir string, args ...string) (doc T) {
	t.Helper()
	stdout := succeed(t, dir, append(args, "--json")...)
	decode(t, stdout, &doc)
	return doc
}

// skewedTrace writes a trace whose clocks differ by up to 5 ms.
func skewedTrace(t *testing.T, dir, offsets string) string {
	t.Helper()
	path := filepath.Join(dir, offsets)
	if _, stderr, code := tracekit(t, dir, "generate", "halo", "--ranks", "4", "--iterations", "8", "--late-sender", "3000",
		"--skew", "5000000", "--drift", "50", "--offsets", offsets, "-o", path); code != exitDone {
		t.Fatal(stderr)
	}
	return path
}

// TestConvertedClocks states that a copy with corrected times, analyzed as it is, gives what
// the original gives with the same correction, in every format; that the document says what
// was done; and that by default only Paraver is corrected.
func TestConvertedClocks(t *testing.T) {
	dir := t.TempDir()
	for _, original := range []string{skewedTrace(t, dir, "right"), skewedTrace(t, dir, "wrong")} {
		for _, out := range []string{"copy", "copy.prv", "copy.json", "copy.parquet"} {
			for _, clock := range []string{"", "auto", "none", "offsets", "clc"} {
				name := filepath.Base(original) + " to " + out + " " + clock
				args := []string{"convert", "--force", original, out}
				if clock != "" {
					args = append(args, "--clock", clock)
				} else if clock = "none"; out == "copy.prv" {
					clock = "auto"
				}
				done := command[outcome.Convert](t, dir, args...)
				want := command[timed](t, dir, "analyze", "--clock", clock, original)
				got := command[timed](t, dir, "analyze", "--clock", "none", out)
				if got.Clock.ViolationsRaw != want.Clock.ViolationsAfter {
					t.Errorf("%s: %d messages run backwards in the copy, %d in the original after correction", name,
						got.Clock.ViolationsRaw, want.Clock.ViolationsAfter)
				}
				if done.Clock == nil && (len(args) > 4 || out == "copy.prv") || done.Clock != nil && *done.Clock != want.Clock {
					t.Errorf("%s: the document says %+v, the analysis %+v", name, done.Clock, want.Clock)
				}
				if kept := clock == "none"; kept != (done.Measured > 0) {
					t.Errorf("%s: measured offsets of %d locations", name, done.Measured)
				}
				got.Clock, want.Clock = document.Clock{}, document.Clock{}
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("%s: original is -, copy is +:\n%s", name, diff)
				}
			}
		}
	}
}

// TestPlain: a plain Paraver trace has no event types of our own (94000000 and beyond), and
// only Paraver can be plain.
func TestPlain(t *testing.T) {
	dir, archive := t.TempDir(), sampleArchive(t, "ring-4")
	for _, args := range [][]string{nil, {"--plain"}} {
		out := filepath.Join(dir, fmt.Sprint(len(args)), "ring.prv")
		if err := os.Mkdir(filepath.Dir(out), 0o777); err != nil {
			t.Fatal(err)
		}
		succeed(t, dir, append([]string{"convert", archive, out}, args...)...)
		own := false
		for _, text := range contentsOf(t, filepath.Dir(out)) {
			own = own || strings.Contains(text, ":940000")
		}
		if own != (args == nil) {
			t.Errorf("%v: own event types: %v", args, own)
		}
	}
	if _, stderr, code := tracekit(t, dir, "convert", "--plain", archive, "ring.json"); code != exitUsage {
		t.Errorf("--plain for JSON: exit code %d, %s", code, stderr)
	}
}

// TestAlign: the files of two ranks count their times from different moments, one from 1 s,
// the other from 100 s. That is a finding, unless they are let begin together: then the run
// takes as long as the longer one.
func TestAlign(t *testing.T) {
	dir, archive := t.TempDir(), sampleArchive(t, "ring-4")
	var files []string
	for rank, start := range []int{1_000_000, 100_000_000} {
		files = append(files, fmt.Sprintf("rank%d.json", rank))
		text := fmt.Sprintf(`{"distributedInfo": {"rank": %d, "world_size": 2}, "traceEvents": [
			{"ph": "X", "name": "work", "cat": "cpu_op", "pid": 1, "tid": 1, "ts": %d, "dur": %d}]}`, rank, start, 20+rank)
		tracetest.WriteFile(t, filepath.Join(dir, files[rank]), text)
	}
	for align, want := range map[string]int64{"recorded": 99_000_021_000, "start": 21_000} {
		doc := command[struct {
			Trace    document.TraceInfo `json:"trace"`
			Findings []document.Finding `json:"findings"`
		}](t, dir, append([]string{"analyze", "--align", align}, files...)...)
		unaligned := slices.ContainsFunc(doc.Findings, func(f document.Finding) bool {
			return f.Code == "unaligned_clocks" && strings.Contains(f.Text, "--align start")
		})
		if doc.Trace.DurationNs != want || unaligned != (align == "recorded") {
			t.Errorf("%s: %d ns, %+v", align, doc.Trace.DurationNs, doc.Findings)
		}
	}
	if _, stderr, code := tracekit(t, dir, "analyze", "--align", "start", archive); code == exitDone || !strings.Contains(stderr, "json") {
		t.Errorf("an OTF2 archive: exit code %d, %s", code, stderr)
	}
}

// TestMinLatency: what is faster than the least latency counts as running backwards and, with
// the logical clock, is slower afterwards.
func TestMinLatency(t *testing.T) {
	archive := sampleArchive(t, "halo2d-8")
	fast := command[timed](t, t.TempDir(), "analyze", "--clock", "offsets", archive).Messages.Latency.Min
	for _, least := range []int64{0, 5000} {
		doc := command[timed](t, t.TempDir(), "analyze", "--clock", "clc", "--min-latency", fmt.Sprint(least, "ns"), archive)
		c := doc.Clock
		if c.MinLatencyNs != least || c.ViolationsAfter > 0 || (c.ViolationsOffsets > 0) != (fast < least) ||
			doc.Messages.Latency.Min < least {
			t.Errorf("least latency %d: %+v, the fastest message takes %d", least, c, doc.Messages.Latency.Min)
		}
	}
}
