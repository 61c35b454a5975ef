package engine

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"slices"
	"sync"

	"tracekit/trace"
)

// Batches are the events of one location in recorded order, as trace.Source.Events
// delivers them. No slice of a batch may be kept after the next one is asked for.
type Batches = iter.Seq2[*trace.Batch, error]

// A Stage maps locations to partial results and combines these. Map is called
// concurrently for different locations and depends on nothing but its arguments; Combine
// is associative and is applied to neighbours in order of locations, concurrently, too.
type Stage[P any] interface {
	Map(ctx context.Context, defs *trace.Defs, location trace.LocationID, batches Batches) (P, error)
	Combine(a, b P) P
}

// Options of a stage. The zero value uses all processors and reports nothing.
type Options struct {
	Jobs     int       // locations mapped at the same time; below 1: one per processor
	Progress *Progress // counts events; may be nil
	InOrder  bool      // begin with the first location, not with the one of the most events

	// Group says which locations belong together: those of a group follow each other, and the group of the most events comes first. nil: each
	// is on its own.
	Group func(trace.LocationID) int

	Listeners []Listener // that hear what the stage decodes

	// Only are the locations that are mapped, ascending; nil: all. The others have the zero
	// value as result. It is for Each.
	Only []trace.LocationID
}

// Run maps all locations of a source and combines the results. The first error ends the
// run and is returned; a source without locations gives the zero value of P.
func Run[P any](ctx context.Context, src trace.Source, opts Options, stage Stage[P]) (P, error) {
	sum := &sum[P]{n: len(src.Defs().Locations), combine: stage.Combine, waiting: make(map[node]P)}
	_, err := Each(ctx, src, opts, func(ctx context.Context, l trace.LocationID, b Batches) (struct{}, error) {
		part, err := stage.Map(ctx, src.Defs(), l, b)
		if err == nil {
			sum.add(int(l), part)
		}
		return struct{}{}, err
	})
	return sum.total, err
}

// Sum maps n items to parts and combines these as Run does those of locations: where the order of
// additions decides about the last bit of a sum, too, both give the same one.
func Sum[P any](ctx context.Context, jobs, n int, part func(ctx context.Context, item int) (P, error), combine func(a, b P) P) (P, error) {
	sum := &sum[P]{n: n, combine: combine, waiting: make(map[node]P)}
	err := shared(ctx, jobs, n, func(ctx context.Context, _, i int) error {
		p, err := part(ctx, i)
		if err == nil {
			sum.add(i, p)
		}
		return err
	})
	return sum.total, err
}

// A sum combines n parts as they come: part 2k with part 2k+1, what these make likewise, and so
// on. So a part that is large because it is of many others is not gone through for each of
// them, and few parts wait for their neighbours.
type sum[P any] struct {
	n       int
	combine func(a, b P) P

	lock    sync.Mutex
	waiting map[node]P
	total   P
}

// A node stands for 2^level parts, from number·2^level on.
type node struct{ level, number int }

// add adds part i.
func (s *sum[P]) add(i int, part P) {
	for at := (node{0, i}); ; at = (node{at.level + 1, at.number / 2}) {
		nodes := (s.n + 1<<at.level - 1) >> at.level
		if nodes == 1 {
			s.total = part
			return
		}
		beside := node{at.level, at.number ^ 1}
		if beside.number >= nodes {
			continue
		}
		s.lock.Lock()
		other, there := s.waiting[beside]
		if delete(s.waiting, beside); !there {
			s.waiting[at] = part
		}
		s.lock.Unlock()
		switch {
		case !there:
			return
		case at.number < beside.number:
			part = s.combine(part, other)
		default:
			part = s.combine(other, part)
		}
	}
}

// Each maps all locations of a source and returns the results by location. Locations
// that announce the most events come first, so that no long one starts last, unless the
// options say otherwise. A panic in fn becomes an error that names the location.
func Each[P any](ctx context.Context, src trace.Source, opts Options,
	fn func(context.Context, trace.LocationID, Batches) (P, error)) ([]P, error) {
	defs := src.Defs()
	order := orderOf(defs.Locations, opts)
	opts.Progress.begin(defs.Locations, order)
	parts := make([]P, len(defs.Locations))
	err := parallel(ctx, Workers(opts.Jobs, len(order)), 1, []deal{inOrder(len(order))}, func(ctx context.Context, _, _, i int) (err error) {
		l := order[i]
		err = guard(func() (err error) {
			parts[l], err = fn(ctx, l, opts.listened(l, opts.Progress.watch(src.Events(ctx, l))))
			return err
		})
		if _, ok := err.(*crash); ok {
			return fmt.Errorf("location %d (%s): %w", l, defs.String(defs.Locations[l].Name), err)
		}
		return err
	})
	return parts, err
}

// Copy gives the events of a source to a sink and returns their numbers by location: several
// locations at a time if the sink is concurrent, location by location if not.
func Copy(ctx context.Context, src trace.Source, w trace.Sink, o Options) ([]*uint64, error) {
	if c, ok := w.(trace.ConcurrentSink); !ok || !c.Concurrent() {
		o.Jobs, o.InOrder = 1, true
	}
	return Each(ctx, src, o, func(_ context.Context, _ trace.LocationID, batches Batches) (*uint64, error) {
		n := new(uint64)
		for b, err := range batches {
			if err != nil {
				return n, err
			}
			if err := w.Write(b); err != nil {
				return n, err
			}
			*n += uint64(b.Len())
		}
		return n, nil
	})
}

// orderOf returns the order in which locations are begun.
func orderOf(locations []trace.Location, opts Options) []trace.LocationID {
	order := slices.Clone(opts.Only)
	if opts.Only == nil {
		for l := range locations {
			order = append(order, trace.LocationID(l))
		}
	}
	if opts.InOrder {
		return order
	}
	group := opts.Group
	if group == nil {
		group = func(l trace.LocationID) int { return int(l) }
	}
	events := make(map[int]uint64)
	for _, l := range order {
		events[group(l)] += locations[l].Events
	}
	slices.SortStableFunc(order, func(a, b trace.LocationID) int {
		x, y := group(a), group(b)
		return cmp.Or(cmp.Compare(events[y], events[x]), cmp.Compare(x, y), cmp.Compare(locations[b].Events, locations[a].Events))
	})
	return order
}
