package overhead

import (
	"math"
	"testing"

	"tracekit/spill"
)

// TestByCall states that the overhead of each call is kept, however long it is, and of which calls it is not known.
func TestByCall(t *testing.T) {
	store, by := spill.NewStore(0, t.TempDir()), make(ByCall, 1)
	defer store.Close()
	want := []int64{0, -1, 1, longOverhead - 2, longOverhead - 1, longOverhead, math.MaxUint32, -1, math.MaxInt64, 7}
	for _, ns := range want {
		by.Add(store, 0, ns)
	}
	for call, ns := range want {
		if got, ok := by.At(0, call); got != ns || ok != (ns >= 0) {
			t.Errorf("call %d has %d, known: %t; want %d", call, got, ok, ns)
		}
	}
	if _, ok := by.At(1, 0); ok {
		t.Error("overhead of a location that was not asked for is known")
	}
}
