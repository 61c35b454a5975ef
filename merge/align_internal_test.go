package merge

import (
	"math"
	"testing"

	"tracekit/trace"
)

// TestClockStandsStill states that a clock that shows one time throughout is not corrected, and spoils no figure.
func TestClockStandsStill(t *testing.T) {
	going, still := newSightings(), newSightings()
	for i := range 20 {
		at := float64(1000 * i)
		going.add(sight{at, at})
		still.add(sight{5, at})
	}
	span := trace.Span{First: 0, Last: 20_000, Events: 2}
	a := &aligner{trace: &trace.Trace{Span: []trace.Span{span, span, span}, Rank: []uint32{0, 1, 2}}, clock: []int32{0, 1, 2}, clocks: 3,
		pairs: map[pair]*sightings{{0, 2}: going, {1, 2}: still}}
	maps, found, err := a.solve()
	if err != nil || found == nil {
		t.Fatal(found, err)
	}
	if len(maps[1].Offsets) > 0 || math.IsInf(found.MaxDrift, 0) || math.IsNaN(found.MaxDrift) || found.MaxOffset != 0 {
		t.Errorf("offsets %v, found %+v", maps[1].Offsets, found)
	}
}
