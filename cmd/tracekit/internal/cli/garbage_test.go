package cli

import (
	"math"
	"testing"

	"tracekit/trace"
)

// TestGarbageOf: only of a trace that is small in every respect may the heap grow by a multiple.
func TestGarbageOf(t *testing.T) {
	for _, c := range []struct {
		size   int64
		many   int    // locations
		events uint64 // of each
		want   int
	}{
		{1 << 20, 16, 1 << 10, mostGarbage},
		{1 << 30, 16, 1 << 10, leastGarbage},
		{1 << 20, 16, 1 << 20, leastGarbage}, // packed
		{1 << 20, 2, 1 << 20, mostGarbage / 2},
		{1 << 20, 1 << 18, 2, manyGarbage},
		{1 << 26, 1 << 18, 2, leastGarbage},
		{math.MaxInt64, 3, math.MaxUint64, leastGarbage},
	} {
		locations := make([]trace.Location, c.many)
		for l := range locations {
			locations[l].Events = c.events
		}
		if got := garbageOf(c.size, locations); got != c.want {
			t.Errorf("%d bytes, %d locations of %d events: %d %%, want %d", c.size, c.many, c.events, got, c.want)
		}
	}
}
