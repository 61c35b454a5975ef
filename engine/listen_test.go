package engine_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"

	"tracekit/engine"
	"tracekit/trace"
	"tracekit/trace/tracetest"
)

// TestListeners states that listeners hear all that a stage decodes, before it does, and nothing
// of what it leaves out; at the end it is told.
func TestListeners(t *testing.T) {
	src := tracetest.MustParse(t, `
location 0 a
  0 Enter main ; 5 Leave main
location 1 b
  1 Enter main ; 2 Enter f ; 3 Leave f ; 4 Leave main
location 2 c
  1 Enter main
`)
	var lock sync.Mutex
	var got []string
	note := func(who string, l trace.LocationID, n int) {
		lock.Lock()
		defer lock.Unlock()
		got = append(got, fmt.Sprintf("%d %s hears %d", l, who, n))
	}
	listen := func(l trace.LocationID) (hear func(*trace.Batch), end func()) {
		if l == 0 {
			return nil, nil
		}
		return func(b *trace.Batch) { note("listener", l, b.Len()) }, func() { note("listener", l, 0) }
	}
	_, err := engine.Each(t.Context(), src, engine.Options{Jobs: 2, Listeners: []engine.Listener{listen}},
		func(_ context.Context, l trace.LocationID, batches engine.Batches) (struct{}, error) {
			if l == 2 {
				return struct{}{}, nil
			}
			for b, err := range batches {
				if err != nil {
					return struct{}{}, err
				}
				note("stage", l, b.Len())
			}
			return struct{}{}, nil
		})
	if err != nil {
		t.Fatal(err)
	}
	slices.SortStableFunc(got, func(a, b string) int { return int(a[0]) - int(b[0]) })
	if want := []string{"0 stage hears 2", "1 listener hears 4", "1 stage hears 4", "1 listener hears 0"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
