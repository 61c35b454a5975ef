package profile

import (
	"testing"

	"tracekit/document/waitstate"
	"tracekit/spill"
	"tracekit/stats/waits"
	"tracekit/trace"
)

// TestFollowerIsBounded: endless recursion inside a region keeps so many visits, and finds its way
// back, also if that region alone is left.
func TestFollowerIsBounded(t *testing.T) {
	const depth, caller, recursive = deepest + 1000, trace.RegionID(0), trace.RegionID(1)
	for _, leaves := range []int64{depth, 0} {
		var events trace.Batch
		events.Reset(0, 0)
		now := int64(0)
		add := func(kind trace.Kind, region trace.RegionID) {
			events.AddFlow(now, kind, region)
			now++
		}
		add(trace.KindEnter, caller)
		for range depth {
			add(trace.KindEnter, recursive)
		}
		for range leaves {
			add(trace.KindLeave, recursive)
		}
		add(trace.KindLeave, caller)
		last := now
		add(trace.KindEnter, caller)
		add(trace.KindLeave, caller)

		entered, outside := 0, int64(0)
		f := Follower[int]{
			Enter: func(*int, trace.RegionID, trace.SourceLocationID, *trace.Call) int {
				entered++
				return entered
			},
			Spend: func(at int64, _ trace.RegionID, visit *int, _ waitstate.Kind) {
				if visit == nil {
					outside = at
				}
			},
		}
		tr := &trace.Trace{Defs: &trace.Defs{}, Span: []trace.Span{{First: 0, Last: now - 1, Events: uint64(now)}},
			Calls: make([]*spill.Table[trace.Call], 1)}
		tr.Clock.Maps = make([]trace.ClockMap, 1)
		batches := func(yield func(*trace.Batch, error) bool) { yield(&events, nil) }
		if err := f.Follow(tr, make(waits.ByCall, 1), 0, batches); err != nil {
			t.Fatal(err)
		}
		if entered != deepest+1 || f.stack.Len() != 0 || outside != last {
			t.Errorf("%d leaves: %d visits were kept, %d are open, none until %d, want %d", leaves, entered, f.stack.Len(), outside, last)
		}
	}
}
