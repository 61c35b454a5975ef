package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tracekit/document"
	"tracekit/document/outcome"
	"tracekit/samples"
)

// TestUndecidedSends: on a slower network, the program takes what is predicted if sends of 16 kB,
// of which the run does not show it, wait for their receivers.
func TestUndecidedSends(t *testing.T) {
	dir := t.TempDir()
	took := make(map[int]int64)
	for _, latency := range []int{1500, 15_000} {
		took[latency] = command[samples.Truth](t, dir, "generate", "requests", "--ranks", "12", "--iterations", "15",
			"--latency", fmt.Sprint(latency), "-o", fmt.Sprint(latency)).CriticalPathLength
	}
	doc := command[outcome.Whatif](t, dir, "whatif", "--network", "latency=15us,bandwidth=4GB", "1500")
	u := doc.Undecided
	if u == nil || u.Wait || u.Bytes != 16384 {
		t.Fatalf("undecided are %+v", u)
	}
	if off := float64(u.Predicted-took[15_000]) / float64(took[15_000]); doc.Baseline != took[1500] || off < -0.02 || off > 0.02 {
		t.Errorf("%d is predicted of %d, from a run of %d", u.Predicted, took[15_000], doc.Baseline)
	}
}

// TestWrittenRunIsThePrediction states that the run that is written takes as long as it was predicted to, also where clocks disagree: its
// times are corrected, and are not corrected again.
func TestWrittenRunIsThePrediction(t *testing.T) {
	dir := t.TempDir()
	for _, offsets := range []string{"right", "wrong"} {
		run := skewedTrace(t, dir, offsets)
		for _, out := range []string{"changed.otf2", "changed.prv", "changed.json", "changed.parquet"} {
			doc := command[outcome.Whatif](t, dir, "whatif", "--force", "--scale", "interior=0.5", "-o", out, run)
			got := command[struct{ Trace document.TraceInfo }](t, dir, "analyze", out)
			if got.Trace.DurationNs != doc.Predicted || doc.Gain == 0 {
				t.Errorf("%s offsets, %s: %d ns are predicted of %d, and %d written", offsets, out, doc.Predicted, doc.Baseline, got.Trace.DurationNs)
			}
		}
	}
}

// TestMissingRanksHaveNoEnd: of a rank whose events are not there, the text tells no end and no slack.
func TestMissingRanksHaveNoEnd(t *testing.T) {
	dir := t.TempDir()
	tracekit(t, dir, "generate", "ring", "--ranks", "4", "--iterations", "5", "-o", "ring")
	if err := os.Remove(filepath.Join(dir, "ring", "traces", "3.evt")); err != nil {
		t.Fatal(err)
	}
	out, stderr, code := tracekit(t, dir, "whatif", "--slack", "--balance", "compute", "ring")
	if code != 0 {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	if ranks := strings.Count(out, "\n   2  "); ranks != 2 || strings.Contains(out, "\n   3  ") {
		t.Errorf("rank 2 is told %d times in\n%s", ranks, out)
	}
}

// TestWhatifOfSteps: the steps of a training job together are not called the run time, which holds what is around them, too.
func TestWhatifOfSteps(t *testing.T) {
	dir := t.TempDir()
	_, errs, code := tracekitIn(t, dir, 100, "generate", "training", "--dp", "2", "--pp", "2", "--iterations", "5", "-o", "job.json")
	if code != exitDone {
		t.Fatal(errs)
	}
	out, errs, code := tracekitIn(t, dir, 100, "whatif", "-q", "job.json")
	if code != exitDone || !strings.HasPrefix(out, "job.json: 5 training steps take ") {
		t.Errorf("%d %s: %q", code, errs, out)
	}
}
