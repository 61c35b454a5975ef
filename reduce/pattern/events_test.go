package pattern

import (
	"testing"

	"tracekit/trace"
)

// TestTooDeep: of regions inside as many others as there may be, each has the path of the one before.
func TestTooDeep(t *testing.T) {
	b := new(trace.Batch)
	b.AddFlow(0, trace.KindEnter, 0)
	w := newShared(new(trace.Defs)).walker(0)
	paths := make(map[uint64]bool)
	for range trace.MaxDepth + 10 {
		paths[w.flow(&b.Flow, 0).path] = true
	}
	if len(paths) != trace.MaxDepth {
		t.Errorf("%d paths, want %d", len(paths), trace.MaxDepth)
	}
}
