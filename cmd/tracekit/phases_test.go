package main

import (
	"strings"
	"testing"

	"tracekit/document"
	"tracekit/report"
)

// TestPhasesCountFromOne: none is no phase to ask for, and not the whole run.
func TestPhasesCountFromOne(t *testing.T) {
	archive := sampleArchive(t, "ring-4-plain")
	for _, args := range [][]string{{"analyze", archive}, {"spacetime", archive, "-o", "x.svg"}} {
		for _, phase := range []string{"0", "-1", "x"} {
			_, stderr, code := tracekit(t, t.TempDir(), append(args, "--phase", phase)...)
			if code != exitUsage || !strings.Contains(stderr, "--phase ") || !strings.Contains(stderr, "want a") {
				t.Errorf("%v --phase %s: exit code %d, %s", args, phase, code, stderr)
			}
		}
	}
}

// TestOffsetsAreToldIfTheyMatter: nothing is said of measured offsets that change nothing, as where none were
// measured.
func TestOffsetsAreToldIfTheyMatter(t *testing.T) {
	for offsets, want := range map[uint64]string{
		1: "repaired by the logical clock; as recorded 1 message runs backwards by up to 791 ns",
		3: "repaired by the logical clock; as recorded 1 message runs backwards by up to 791 ns, with the measured offsets 3",
	} {
		if got := report.ClockLine(&document.Clock{Method: "clc", ViolationsRaw: 1, ViolationsOffsets: offsets,
			MaxViolationNs: 791}); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
