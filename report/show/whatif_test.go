package show

import (
	"testing"

	"tracekit/stats/whatif"
)

// TestGainsWithoutStartup states that startup has no row, unless there is nothing else.
func TestGainsWithoutStartup(t *testing.T) {
	gains := []whatif.Gain{{Place: "MPI_Init@a.c:1", GainNs: 3}, {Place: "solve", GainNs: 2}, {Place: "MPI_Finalize", GainNs: 1}}
	rest, left := withoutStartup(gains)
	if len(rest) != 1 || rest[0].Place != "solve" || left == nil || left.GainNs != 3 {
		t.Errorf("%v, left out %v", rest, left)
	}
	if rest, left = withoutStartup(gains[:1]); len(rest) != 1 || left != nil {
		t.Errorf("startup alone: %v, left out %v", rest, left)
	}
}
