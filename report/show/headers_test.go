package show

import (
	"strings"
	"testing"

	"tracekit/report"
	"tracekit/stats/studies/headers"
)

// TestSamplingOfNothing: a line says so, behind an empty one; the end of a line once came out as an escape.
func TestSamplingOfNothing(t *testing.T) {
	var out strings.Builder
	printSampling(&report.Sections{W: &out, Width: 120}, &headers.Profile{Sampling: &headers.Sampling{Ranks: [2]uint32{0, 7}}})
	if want := "\nSampling by rank 0 and rank 7: no header arrived.\n"; out.String() != want {
		t.Errorf("%q", out.String())
	}
}
