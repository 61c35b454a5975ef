package engine

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"slices"

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
	InOrder  bool      // begin with the first location, not with the one of the most events
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
// that announce the most events come first, so that no long one starts last, unless the
// options say otherwise. A panic in fn becomes an error that names the location.
func Each[P any](ctx context.Context, src trace.Source, opts Options,
	fn func(context.Context, trace.LocationID, Batches) (P, error)) ([]P, error) {
	defs := src.Defs()
	order := orderOf(defs.Locations, opts.InOrder)
	opts.Progress.begin(defs.Locations)
	parts := make([]P, len(order))
	err := parallel(ctx, workers(opts.Jobs, len(order)), len(order), func(ctx context.Context, _, i int) (err error) {
		l := order[i]
		err = guard(func() (err error) {
			parts[l], err = fn(ctx, l, opts.Progress.watch(src.Events(ctx, l)))
			return err
		})
		if _, ok := err.(*crash); ok {
			return fmt.Errorf("location %d (%s): %w", l, defs.String(defs.Locations[l].Name), err)
		}
		return err
	})
	return parts, err
}

// orderOf returns the order in which locations are begun.
func orderOf(locations []trace.Location, ascending bool) []trace.LocationID {
	order := make([]trace.LocationID, len(locations))
	for i := range order {
		order[i] = trace.LocationID(i)
	}
	if ascending {
		return order
	}
	slices.SortStableFunc(order, func(a, b trace.LocationID) int {
		return cmp.Compare(locations[b].Events, locations[a].Events)
	})
	return order
}
