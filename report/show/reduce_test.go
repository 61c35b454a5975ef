package show

import (
	"strings"
	"testing"

	"tracekit/report"
	"tracekit/topology"
)

// TestMoreRanks: what a table leaves out is told with the flag that shows it.
func TestMoreRanks(t *testing.T) {
	var out strings.Builder
	printHops(&report.Sections{W: &out, Width: 100, Top: 1}, "the grid 2x2", make([]topology.Average, 4))
	if want := "\n3 more ranks (--top).\n"; !strings.HasSuffix(out.String(), want) {
		t.Errorf("%q does not end in %q", out.String(), want)
	}
}
