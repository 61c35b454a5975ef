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
	err := shared(ctx, jobs, n, func(ctx context.Context, _, i int) (err error) {
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
	Partial func() P // makes an empty partial result, for several goroutines at the same time
	Visit   func(p P, window, item int) error
	Combine func(a, b P) P
}

// Windows runs a windowed stage.
func Windows[P any](ctx context.Context, jobs int, s Windowed[P]) (P, error) {
	parts, made := make([]P, Workers(jobs, s.Items)), make([]bool, Workers(jobs, s.Items))
	part := func(worker int) P {
		if !made[worker] {
			parts[worker], made[worker] = s.Partial(), true
		}
		return parts[worker]
	}
	items := []deal{inShares(len(parts), s.Items)}
	err := parallel(ctx, len(parts), max(1, s.Windows), items, func(_ context.Context, worker, k, item int) error {
		return s.Visit(part(worker), k, item)
	})
	sum := part(0)
	if err != nil {
		return sum, err
	}
	for i, p := range parts[1:] {
		if made[i+1] {
			sum = s.Combine(sum, p)
		}
	}
	return sum, nil
}

// Fold is Windows with a single window: each item is visited once.
func Fold[P any](ctx context.Context, jobs, n int, partial func() P, visit func(p P, item int) error, combine func(a, b P) P) (P, error) {
	return Windows(ctx, jobs, Windowed[P]{Items: n, Partial: partial, Combine: combine,
		Visit: func(p P, _, item int) error { return visit(p, item) }})
}

// An Exchange brings rows from the items in which they arise to the keys that they belong to. It goes window by window through the run: in
// each window all sources emit rows, then every key takes those emitted to it, in order of sources. No source and no key is visited by two
// goroutines at a time, so that what belongs to one needs no lock.
type Exchange[R any] struct {
	Windows       int
	Sources, Keys int
	Emit          func(window, source int, rows [][]R) // appends what a source emits to the rows of each key
	// for some sources at a time as far as they have emitted any, in order, then once without rows
	Take func(window, key int, rows []R)
}

// mostEmitters bounds the number of groups of sources that emit at the same time: what they
// emit is kept by group and key.
const mostEmitters = 256

// Swap runs an exchange.
func Swap[R any](ctx context.Context, jobs int, x Exchange[R]) error {
	sent := make([][][]R, min(x.Sources, mostEmitters))
	for s := range sent {
		sent[s] = make([][]R, x.Keys)
	}
	first := func(emitter int) int { return x.Sources * emitter / len(sent) } // of its sources
	emit := func(ctx context.Context, w, e int) {
		for s := first(e); s < first(e+1) && ctx.Err() == nil; s++ {
			x.Emit(w, s, sent[e])
		}
	}
	take := func(w, key int) {
		for s := range sent {
			if rows := sent[s][key]; len(rows) > 0 {
				x.Take(w, key, rows)
				sent[s][key] = rows[:0]
			}
		}
		x.Take(w, key, nil)
	}
	jobs = Workers(jobs, max(len(sent), x.Keys))
	turns := []deal{inShares(jobs, len(sent)), inShares(jobs, x.Keys)}
	return parallel(ctx, jobs, 2*x.Windows, turns, func(ctx context.Context, _, round, i int) error {
		if round%2 == 0 {
			emit(ctx, round/2, i)
		} else {
			take(round/2, i)
		}
		return nil
	})
}

// Beside runs a sequential task on one goroutine and a stage on the others. Once the task is done, the stage runs on all; with one job the
// task comes first. Neither may need what the other makes. The first error ends both.
func Beside(ctx context.Context, jobs int, task, stage func(context.Context) error) error {
	jobs = Workers(jobs, math.MaxInt)
	running := &taskBeside{jobs: jobs, done: make(chan struct{})}
	return parallel(ctx, min(jobs, 2), 1, []deal{inOrder(2)}, func(ctx context.Context, _, _, item int) error {
		if item > 0 {
			return stage(context.WithValue(ctx, taskKey{}, running))
		}
		defer close(running.done)
		return task(ctx)
	})
}

// A taskBeside takes, in the context of a stage, one of the jobs until it is done.
type taskBeside struct {
	jobs int
	done chan struct{}
}

type taskKey struct{}

// Workers returns how many goroutines work on n items with so many jobs; fewer than 1 are as many as there are processors.
func Workers(jobs, n int) int {
	if jobs < 1 {
		jobs = runtime.GOMAXPROCS(0)
	}
	return max(1, min(jobs, n))
}

// A deal hands items out, all of them again in each of its rounds. Each share is taken from its first item on.
type deal []share

type share struct {
	taken atomic.Int64 // items of all rounds so far
	first int
	n     int
	_     [40]byte // no two shares in one line of a processor's memory
}

// inOrder deals the items 0 … n-1 from the first to the last.
func inOrder(n int) deal { return inShares(1, n) }

// inShares deals the items 0 … n-1 such that each worker has a share of adjacent items, and takes from
// other shares when its own is finished. The data of adjacent items are often adjacent in memory, and
// processors that write to the same line of memory wait for each other.
func inShares(shares, n int) deal {
	d := make(deal, shares)
	for i := range d {
		d[i].first = n * i / shares
		d[i].n = n*(i+1)/shares - d[i].first
	}
	return d
}

// items returns how many items a round has.
func (d deal) items() int { return d[len(d)-1].first + d[len(d)-1].n }

// take returns the next item of a round for a worker; ok is false if there is none. All of earlier rounds are taken.
func (d deal) take(worker, round int) (item int, ok bool) {
	for k := range d {
		s := &d[(worker+k)%len(d)]
		end := int64(s.n) * int64(round+1)
		for i := s.taken.Load(); i < end; i = s.taken.Load() {
			if s.taken.CompareAndSwap(i, i+1) {
				return s.first + s.n - int(end-i), true
			}
		}
	}
	return 0, false
}

// shared calls fn for the items 0 … n-1, of which each worker has a share: see parallel.
func shared(ctx context.Context, jobs, n int, fn func(ctx context.Context, worker, item int) error) error {
	jobs = Workers(jobs, n)
	return parallel(ctx, jobs, 1, []deal{inShares(jobs, n)}, func(ctx context.Context, worker, _, item int) error {
		return fn(ctx, worker, item)
	})
}

// parallel calls fn for all items of a deal from the given number of goroutines, each of which has a number.
// Rounds follow each other, with each deal in turn: all items of one are done before the next one begins. After an error no further
// call is made and the context of those that run is cancelled. Of several errors the one that came first is returned, and cancellation
// from outside before all. A panic is an error.
func parallel(ctx context.Context, jobs, rounds int, deals []deal, fn func(ctx context.Context, worker, round, item int) error) error {
	task, _ := ctx.Value(taskKey{}).(*taskBeside)
	inner, cancel := context.WithCancelCause(context.WithValue(ctx, taskKey{}, nil))
	defer cancel(nil)
	through := make(chan struct{}) // all items are taken, or there was an error
	end := sync.OnceFunc(func() { close(through) })
	var done gate // items
	work := func(worker int) {
		defer end()
		if task != nil && worker >= task.jobs-1 {
			select {
			case <-task.done:
			case <-through:
			}
		}
		due := int64(0) // when the round is over
		for round := range rounds {
			d := deals[round%len(deals)]
			due += int64(d.items())
			for inner.Err() == nil {
				i, ok := d.take(worker, round/len(deals))
				if !ok {
					break
				}
				if err := guard(func() error { return fn(inner, worker, round, i) }); err != nil {
					cancel(err)
					return
				}
				done.add(due)
			}
			if round < rounds-1 {
				done.wait(inner, due)
			}
			if inner.Err() != nil {
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
