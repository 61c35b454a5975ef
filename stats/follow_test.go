package stats

import (
	"testing"

	"tracekit/spill"
	"tracekit/trace"
)

// TestFollowerIsBounded: endless recursion keeps so many visits, and finds its way back.
func TestFollowerIsBounded(t *testing.T) {
	const depth = deepest + 1000
	var enters, leaves trace.Batch
	enters.Reset(0, 0)
	leaves.Reset(0, depth)
	for i := range int64(depth) {
		enters.AddFlow(i, trace.KindEnter, 0)
		leaves.AddFlow(depth+i, trace.KindLeave, 0)
	}
	entered, end := 0, int64(0)
	f := Follower[int]{
		Enter: func(*int, trace.RegionID, trace.SourceLocationID, *trace.Call) int {
			entered++
			return entered
		},
		Spend: func(at int64, _ trace.RegionID, _ *int, _ WaitKind) { end = at },
	}
	tr := &trace.Trace{Defs: &trace.Defs{}, Span: []trace.Span{{First: 0, Last: 2*depth - 1, Events: 2 * depth}}, Calls: make([]*spill.Table[trace.Call], 1)}
	tr.Clock.Maps = make([]trace.ClockMap, 1)
	batches := func(yield func(*trace.Batch, error) bool) { _ = yield(&enters, nil) && yield(&leaves, nil) }
	if err := f.Follow(tr, make(CallWaits, 1), 0, batches); err != nil {
		t.Fatal(err)
	}
	if entered != deepest || f.stack.Len() != 0 || end != 2*depth-1 {
		t.Errorf("%d visits were kept, %d are open, the last ends at %d", entered, f.stack.Len(), end)
	}
}
