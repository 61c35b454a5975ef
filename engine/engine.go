package engine

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"runtime"
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"

	"tracekit/trace"
)

// Batches are the events of one location in recorded order, as trace.Source.Events
// delivers them. No slice of a batch may be kept after the next one is asked for.
type Batches = iter.Seq2[*trace.Batch, error]

// A Stage maps locations to partial results and combines these. Map is called
// concurrently for different locations and depends on nothing but its arguments; Combine
// is associative and is applied in order of locations.
type Stage[P any] interface {
	Map(ctx context.Context, defs *trace.Defs, location trace.LocationID, batches Batches) (P, error)
	Combine(a, b P) P
}

// Options says how a stage is run. The zero value uses all processors and reports nothing.
type Options struct {
	Jobs     int       // locations mapped at the same time; below 1: one per processor
	Progress *Progress // counts events; may be nil
}

// Run maps all locations of a source and combines the results. The first error ends the
// run and is returned; a source without locations gives the zero value of P.
func Run[P any](ctx context.Context, src trace.Source, opts Options, stage Stage[P]) (P, error) {
	var sum P
	parts, err := Each(ctx, src, opts, func(ctx context.Context, l trace.LocationID, b Batches) (P, error) {
		return stage.Map(ctx, src.Defs(), l, b)
	})
	if err != nil {
		return sum, err
	}
	for i, part := range parts {
		if i == 0 {
			sum = part
			continue
		}
		sum = stage.Combine(sum, part)
	}
	return sum, nil
}

// Each maps all locations of a source and returns the results by location. Locations
// that announce the most events come first, so that no long one starts last. A panic in
// fn becomes an error that names the location.
func Each[P any](ctx context.Context, src trace.Source, opts Options,
	fn func(context.Context, trace.LocationID, Batches) (P, error)) ([]P, error) {
	defs := src.Defs()
	order := longestFirst(defs.Locations)
	opts.Progress.begin(defs.Locations)
	parts := make([]P, len(order))
	err := parallel(ctx, opts.jobs(len(order)), len(order), func(ctx context.Context, i int) (err error) {
		l := order[i]
		defer func() {
			if r := recover(); r != nil {
				err = fmt.Errorf("location %d (%s): panic: %v\n%s", l, defs.String(defs.Locations[l].Name), r, debug.Stack())
			}
		}()
		parts[l], err = fn(ctx, l, opts.Progress.watch(src.Events(ctx, l)))
		return err
	})
	return parts, err
}

func (o Options) jobs(n int) int {
	jobs := o.Jobs
	if jobs < 1 {
		jobs = runtime.GOMAXPROCS(0)
	}
	return max(1, min(jobs, n))
}

func longestFirst(locations []trace.Location) []trace.LocationID {
	order := make([]trace.LocationID, len(locations))
	for i := range order {
		order[i] = trace.LocationID(i)
	}
	slices.SortStableFunc(order, func(a, b trace.LocationID) int {
		return cmp.Compare(locations[b].Events, locations[a].Events)
	})
	return order
}

// parallel calls fn(0) … fn(n-1) from the given number of goroutines. After an error no
// further call is made and the context of those that run is cancelled. Of several errors
// the one that came first is returned, and cancellation from outside before all.
func parallel(ctx context.Context, jobs, n int, fn func(context.Context, int) error) error {
	inner, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var next atomic.Int64
	var wg sync.WaitGroup
	for range jobs {
		wg.Go(func() {
			for i := int(next.Add(1)) - 1; i < n && inner.Err() == nil; i = int(next.Add(1)) - 1 {
				if err := fn(inner, i); err != nil {
					cancel(err)
					return
				}
			}
		})
	}
	wg.Wait()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return context.Cause(inner)
}
