package profile

import (
	"fmt"
	"math/rand/v2"
	"slices"
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

// TestFollowerCutsAnywhere: what a location does is the same however its events are cut into batches: a call may be entered in one and
// left in the next.
func TestFollowerCutsAnywhere(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	for range 100 {
		type event struct {
			kind   trace.Kind
			region trace.RegionID
		}
		var events []event
		for depth := 0; len(events) < 60 || depth > 0; {
			if region := trace.RegionID(r.Uint32N(3)); len(events) < 60 && (depth == 0 || r.IntN(2) == 0) {
				events, depth = append(events, event{trace.KindEnter, region}), depth+1
			} else { // often of what was entered last, sometimes of nothing that is open
				events, depth = append(events, event{trace.KindLeave, region}, event{trace.KindLeave, trace.RegionID(trace.None)}), depth-1
			}
		}
		follow := func(most int) (told []string) {
			tr := &trace.Trace{Defs: &trace.Defs{}, Span: []trace.Span{{First: 0, Last: int64(len(events)), Events: uint64(len(events))}},
				Calls: make([]*spill.Table[trace.Call], 1)}
			tr.Clock.Maps = make([]trace.ClockMap, 1)
			f := Follower[string]{
				Enter: func(caller *string, region trace.RegionID, _ trace.SourceLocationID, _ *trace.Call) string {
					if caller == nil {
						return fmt.Sprint(region)
					}
					return fmt.Sprint(*caller, "/", region)
				},
				Spend: func(at int64, _ trace.RegionID, visit *string, _ waitstate.Kind) {
					if visit == nil {
						visit = new(string)
					}
					told = append(told, fmt.Sprint(at, " ", *visit))
				},
			}
			batches := func(yield func(*trace.Batch, error) bool) {
				for i := 0; i < len(events); i += most {
					var b trace.Batch
					b.Reset(0, uint64(i))
					for k, e := range events[i:min(i+most, len(events))] {
						b.AddFlow(int64(i+k), e.kind, e.region)
					}
					if !yield(&b, nil) {
						return
					}
				}
			}
			if err := f.Follow(tr, make(waits.ByCall, 1), 0, batches); err != nil {
				t.Fatal(err)
			}
			return told
		}
		one := follow(1)
		for _, most := range []int{2, 7, 1000} {
			if got := follow(most); !slices.Equal(got, one) {
				t.Fatalf("batches of %d events:\n%q, one by one\n%q", most, got, one)
			}
		}
	}
}
