package stats

import (
	"slices"
	"testing"

	"tracekit/trace"
)

// TestDeepPath: a tracer that loses what ends regions makes paths as deep as the trace is
// long, whose names together once took memory by the square of that.
func TestDeepPath(t *testing.T) {
	tree, path := trace.NewCallTree(), trace.PathID(trace.None)
	for i := range 2 * maxPathNames {
		path = tree.Add(trace.PathNode{Parent: path, Region: trace.RegionID(i % 2), Site: trace.None})
		names := pathNames(tree, path, []string{"even", "odd"})
		last := []string{"even", "odd"}[i%2]
		if n := min(i+1, maxPathNames); len(names) != n || names[n-1] != last || (names[0] == "…") != (i >= maxPathNames) {
			t.Fatalf("depth %d: %d names, from %q to %q", i+1, len(names), names[0], names[len(names)-1])
		}
	}
	undefined := tree.Add(trace.PathNode{Parent: trace.None, Region: 7, Site: trace.None})
	if got := pathNames(tree, undefined, nil); !slices.Equal(got, []string{""}) {
		t.Error(got)
	}
}
