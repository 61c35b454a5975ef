package main

import (
	"testing"

	"tracekit/document"
	"tracekit/report"
)

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
