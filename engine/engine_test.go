package engine

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"tracekit/trace"
)

// source returns a trace of n locations; location l has l+1 batches of l+1 events each.
func source(n int) *trace.MemorySource {
	src := &trace.MemorySource{Definitions: &trace.Defs{Strings: []string{"here"}}}
	for l := range n {
		src.Definitions.Locations = append(src.Definitions.Locations, trace.Location{Events: uint64((l + 1) * (l + 1))})
		var batches []*trace.Batch
		for i := range l + 1 {
			b := &trace.Batch{}
			b.Reset(trace.LocationID(l), uint64(i*(l+1)))
			for range l + 1 {
				b.AddFlow(int64(i), trace.KindEnter, 0)
			}
			batches = append(batches, b)
		}
		src.Batches = append(src.Batches, batches)
	}
	return src
}

// listing maps a location to "location:events;", so that the result shows the order in
// which partial results were combined.
type listing struct{ fail error }

func (s listing) Map(_ context.Context, _ *trace.Defs, l trace.LocationID, batches Batches) (string, error) {
	n := 0
	for b, err := range batches {
		if err != nil {
			return "", err
		}
		n += b.Len()
	}
	if l == 3 && s.fail != nil {
		return "", s.fail
	}
	return fmt.Sprintf("%d:%d;", l, n), nil
}

func (listing) Combine(a, b string) string { return a + b }

func TestRunCombinesInOrderOfLocations(t *testing.T) {
	for _, jobs := range []int{0, 1, 3, 64} {
		got, err := Run(t.Context(), source(6), Options{Jobs: jobs}, listing{})
		if err != nil {
			t.Fatal(err)
		}
		if want := "0:1;1:4;2:9;3:16;4:25;5:36;"; got != want {
			t.Errorf("jobs=%d: got %q, want %q", jobs, got, want)
		}
	}
}

func TestRunWithoutLocations(t *testing.T) {
	got, err := Run(t.Context(), source(0), Options{}, listing{})
	if got != "" || err != nil {
		t.Errorf("got %q, %v; want the zero value", got, err)
	}
}

func TestFirstErrorWins(t *testing.T) {
	broken := errors.New("broken")
	for _, jobs := range []int{1, 4} {
		_, err := Run(t.Context(), source(6), Options{Jobs: jobs}, listing{fail: broken})
		if !errors.Is(err, broken) {
			t.Errorf("jobs=%d: got %v, want %v", jobs, err, broken)
		}
	}
}

func TestErrorCancelsTheOthers(t *testing.T) {
	broken := errors.New("broken")
	var cancelled atomic.Bool
	_, err := Each(t.Context(), source(2), Options{Jobs: 2}, func(ctx context.Context, l trace.LocationID, _ Batches) (int, error) {
		if l == 0 {
			return 0, broken
		}
		<-ctx.Done() // would wait for ever if nobody cancelled
		cancelled.Store(true)
		return 0, ctx.Err()
	})
	if !errors.Is(err, broken) || !cancelled.Load() {
		t.Errorf("error %v, cancelled %t", err, cancelled.Load())
	}
}

func TestPanicBecomesError(t *testing.T) {
	_, err := Each(t.Context(), source(3), Options{Jobs: 2}, func(_ context.Context, l trace.LocationID, _ Batches) (int, error) {
		if l == 1 {
			panic("index out of range")
		}
		return 0, nil
	})
	if err == nil || !strings.Contains(err.Error(), "location 1 (here): panic: index out of range") {
		t.Errorf("got %v", err)
	}
	if where := interface{ Stack() string }(nil); !errors.As(err, &where) || !strings.Contains(where.Stack(), "engine_test.go") {
		t.Errorf("%v does not say where", err)
	}
}

func TestCancelledContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Run(ctx, source(6), Options{}, listing{}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want context.Canceled", err)
	}
}

func TestLongestLocationsStartFirst(t *testing.T) {
	var order []trace.LocationID
	_, err := Each(t.Context(), source(4), Options{Jobs: 1}, func(_ context.Context, l trace.LocationID, _ Batches) (int, error) {
		order = append(order, l)
		return 0, nil
	})
	if want := "[3 2 1 0]"; err != nil || fmt.Sprint(order) != want {
		t.Errorf("got %v, %v; want %s", order, err, want)
	}
}

func TestProgressCountsEvents(t *testing.T) {
	var p Progress
	for range 2 { // two passes
		if _, err := Run(t.Context(), source(3), Options{Progress: &p}, listing{}); err != nil {
			t.Fatal(err)
		}
	}
	if done, total := p.Done.Load(), p.Total.Load(); done != 28 || total != 28 {
		t.Errorf("done %d of %d, want 28 of 28", done, total)
	}
}

func ExampleRun() {
	events, err := Run(context.Background(), source(3), Options{Jobs: 2}, listing{})
	fmt.Println(events, err)
	// Output: 0:1;1:4;2:9; <nil>
}

// TestGroupsFollowEachOther: the locations of a group are begun one after the other, those of the group with the most events first.
func TestGroupsFollowEachOther(t *testing.T) {
	var begun []trace.LocationID
	group := func(l trace.LocationID) int { return int(l) % 3 }
	o := Options{Jobs: 1, Group: group}
	_, err := Each(t.Context(), source(7), o, func(_ context.Context, l trace.LocationID, _ Batches) (int, error) {
		begun = append(begun, l)
		return 0, nil
	})
	if got := fmt.Sprint(begun); got != "[6 3 0 5 2 4 1]" || err != nil { // 66, 45 and 29 events
		t.Errorf("%s, %v", got, err)
	}
}
