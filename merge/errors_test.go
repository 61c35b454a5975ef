package merge_test

import (
	"context"
	"errors"
	"iter"
	"path/filepath"
	"testing"

	"tracekit/engine"
	"tracekit/merge"
	"tracekit/samples"
	"tracekit/spill"
	"tracekit/trace"
)

// A failing source ends each location with an error.
type failing struct {
	trace.Source
	err error
}

func (f failing) Events(ctx context.Context, l trace.LocationID) iter.Seq2[*trace.Batch, error] {
	return func(yield func(*trace.Batch, error) bool) {
		for b, err := range f.Source.Events(ctx, l) {
			if !yield(b, err) {
				return
			}
		}
		yield(nil, f.err)
	}
}

// TestErrors: what keeps merging from going on is returned, and nothing else.
func TestErrors(t *testing.T) {
	m, _ := generate(t, samples.Options{Program: "halo", Ranks: 4, Iterations: 1000})
	broken := errors.New("disk on fire")
	if _, err := merge.Merge(t.Context(), failing{m, broken}, merge.Options{}); !errors.Is(err, broken) {
		t.Errorf("failing source: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := merge.Merge(ctx, m, merge.Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	if _, err := merge.Merge(t.Context(), m, merge.Options{Clock: "sundial"}); err == nil {
		t.Error("no error for an unknown clock mode")
	}
	nowhere := filepath.Join(t.TempDir(), "missing")
	if _, err := merge.Merge(t.Context(), m, merge.Options{Store: spill.NewStore(1, nowhere)}); err == nil {
		t.Error("no error without a place for temporary files")
	}
}

// TestProgress: one pass over the events is counted.
func TestProgress(t *testing.T) {
	m, truth := generate(t, samples.Options{Program: "ring", Ranks: 3, Iterations: 10})
	var p engine.Progress
	merged(t, m, merge.Options{Progress: &p})
	if done := p.Done.Load(); done != truth.Events {
		t.Errorf("%d events done of %d", done, truth.Events)
	}
}

// TestNothingToMerge: traces without events, without MPI, without locations.
func TestNothingToMerge(t *testing.T) {
	clock := trace.ClockProperties{Resolution: 1}
	lone := trace.Location{Group: trace.None}
	for name, src := range map[string]*trace.MemorySource{
		"no locations": {Definitions: &trace.Defs{Clock: clock}},
		"no events":    {Definitions: &trace.Defs{Clock: clock, Locations: []trace.Location{lone, lone}, Strings: []string{""}}},
	} {
		tr := merged(t, src, merge.Options{})
		if tr.Coverage != (trace.Coverage{}) || tr.Collectives.Len() > 0 || tr.Clock.Method != trace.ClockNone {
			t.Errorf("%s: %+v, %+v", name, tr.Coverage, tr.Clock)
		}
	}
}
