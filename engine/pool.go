package engine

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"
)

// Map calls fn for the items 0 … n-1, several at the same time, and returns their results by
// item. The first error ends it.
func Map[P any](ctx context.Context, jobs, n int, fn func(ctx context.Context, item int) (P, error)) ([]P, error) {
	out := make([]P, n)
	err := parallel(ctx, workers(jobs, n), n, func(ctx context.Context, _, i int) (err error) {
		out[i], err = fn(ctx, i)
		return err
	})
	return out, err
}

// A Windowed stage visits the same items again and again, a window of the run after the
// other: all items have passed a window before any of them enters the next, so that what
// they look up of each other lies close together.
//
// Which item adds to which partial result is not fixed: Combine must be commutative. An
// item itself is never visited by two goroutines at a time.
type Windowed[P any] struct {
	Windows int      // below 1: one
	Items   int      //
	Partial func() P // makes an empty partial result
	Visit   func(p P, window, item int) error
	Combine func(a, b P) P
}

// Windows runs a windowed stage.
func Windows[P any](ctx context.Context, jobs int, s Windowed[P]) (P, error) {
	parts := make([]P, workers(jobs, s.Items))
	for i := range parts {
		parts[i] = s.Partial()
	}
	for k := range max(1, s.Windows) {
		err := parallel(ctx, len(parts), s.Items, func(_ context.Context, worker, item int) error {
			return s.Visit(parts[worker], k, item)
		})
		if err != nil {
			return parts[0], err
		}
	}
	sum := parts[0]
	for _, p := range parts[1:] {
		sum = s.Combine(sum, p)
	}
	return sum, nil
}

// Fold is Windows with a single window: each item is visited once.
func Fold[P any](ctx context.Context, jobs, n int, partial func() P, visit func(p P, item int) error, combine func(a, b P) P) (P, error) {
	return Windows(ctx, jobs, Windowed[P]{Items: n, Partial: partial, Combine: combine,
		Visit: func(p P, _, item int) error { return visit(p, item) }})
}

// Beside runs a task that is sequential by nature on one goroutine and a stage on the others,
// and on all once the task is done; with one job the task comes first. Neither may need what
// the other makes. The first error ends both.
func Beside(ctx context.Context, jobs int, task, stage func(context.Context) error) error {
	jobs = workers(jobs, math.MaxInt)
	turns := make(chan struct{}, jobs)
	return parallel(ctx, min(jobs, 2), 2, func(ctx context.Context, _, item int) error {
		if item > 0 {
			return stage(context.WithValue(ctx, turnsKey{}, turns))
		}
		turns <- struct{}{}
		defer func() { <-turns }()
		return task(ctx)
	})
}

// turnsKey is the key of the channel that bounds, in a context, how many goroutines work on
// items beside a task: each sends before an item and receives after it.
type turnsKey struct{}

// workers returns how many goroutines work on n items.
func workers(jobs, n int) int {
	if jobs < 1 {
		jobs = runtime.GOMAXPROCS(0)
	}
	return max(1, min(jobs, n))
}

// parallel calls fn for the items 0 … n-1 from the given number of goroutines, each of which
// has a number. After an error no further call is made and the context of those that run is
// cancelled. Of several errors the one that came first is returned, and cancellation from
// outside before all. A panic is an error.
func parallel(ctx context.Context, jobs, n int, fn func(ctx context.Context, worker, item int) error) error {
	turns, _ := ctx.Value(turnsKey{}).(chan struct{})
	inner, cancel := context.WithCancelCause(context.WithValue(ctx, turnsKey{}, nil))
	defer cancel(nil)
	if turns != nil {
		visit := fn
		fn = func(ctx context.Context, worker, item int) error {
			turns <- struct{}{}
			defer func() { <-turns }()
			return visit(ctx, worker, item)
		}
	}
	var next atomic.Int64
	work := func(worker int) {
		for i := int(next.Add(1)) - 1; i < n && inner.Err() == nil; i = int(next.Add(1)) - 1 {
			if err := guard(func() error { return fn(inner, worker, i) }); err != nil {
				cancel(err)
				return
			}
		}
	}
	if jobs == 1 {
		work(0)
	} else {
		var wg sync.WaitGroup
		for worker := range jobs {
			wg.Go(func() { work(worker) })
		}
		wg.Wait()
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return context.Cause(inner)
}

// A crash is a panic that became an error.
type crash struct {
	cause any
	stack []byte
}

func (c *crash) Error() string { return fmt.Sprintf("panic: %v", c.cause) }

// Stack returns where it happened, in lines.
func (c *crash) Stack() string { return string(c.stack) }

// guard makes an error of a panic, also of one that comes from memory which the system cannot
// bring in: a file that was cut while it is mapped.
func guard(fn func() error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if r := recover(); r != nil {
			err = &crash{r, debug.Stack()}
		}
	}()
	return fn()
}
