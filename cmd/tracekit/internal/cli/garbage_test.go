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

// TestBoundedGarbage: once tables are made a heap grows by few bytes; one that is small, or must be scanned, by as much as before.
func TestBoundedGarbage(t *testing.T) {
	for _, c := range []struct {
		percent       int
		live, scanned uint64
		want          int
	}{
		{400, 0, 0, 400},
		{400, 6 << 20, 1 << 20, 400},
		{25, 600 << 20, 1 << 20, 4},
		{25, 600 << 20, 60 << 20, 20},
		{100, 600 << 20, 500 << 20, 100},
		{25, 64 << 30, 1 << 20, 1},
	} {
		if got := boundedGarbage(c.percent, c.live, c.scanned); got != c.want {
			t.Errorf("%d%%, %d live, %d scanned: %d%%, want %d%%", c.percent, c.live, c.scanned, got, c.want)
		}
	}
}
