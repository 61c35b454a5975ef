package main

import (
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
		{1 << 20, 16, 1 << 10, gcPercentSmall},
		{1 << 30, 16, 1 << 10, gcPercent},
		{1 << 20, 16, 1 << 20, gcPercent}, // packed
		{1 << 20, 1 << 18, 2, gcPercentMany},
		{1 << 26, 1 << 18, 2, gcPercent},
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
