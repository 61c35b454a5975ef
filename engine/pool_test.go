package engine

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

func TestMapReturnsResultsByItem(t *testing.T) {
	for _, jobs := range []int{0, 1, 3, 64} {
		got, err := Map(t.Context(), jobs, 5, func(_ context.Context, i int) (int, error) { return i * i, nil })
		if fmt.Sprint(got) != "[0 1 4 9 16]" || err != nil {
			t.Errorf("jobs=%d: %v, %v", jobs, got, err)
		}
	}
}

// TestWindowsInOrder: no item enters a window before all have passed the one before, and
// each visits each window once.
func TestWindowsInOrder(t *testing.T) {
	const items, windows = 50, 7
	for _, jobs := range []int{1, 8} {
		var passed atomic.Int64
		var at [items]int
		sum, err := Windows(t.Context(), jobs, Windowed[*int]{
			Windows: windows, Items: items,
			Partial: func() *int { return new(int) },
			Visit: func(p *int, window, item int) error {
				if done := int(passed.Load()); done < window*items || at[item] != window {
					return fmt.Errorf("item %d enters window %d after %d visits, %d of its own", item, window, done, at[item])
				}
				at[item]++
				passed.Add(1)
				*p += item
				return nil
			},
			Combine: func(a, b *int) *int { *a += *b; return a },
		})
		if want := windows * items * (items - 1) / 2; err != nil || *sum != want {
			t.Errorf("jobs=%d: %d, %v; want %d", jobs, *sum, err, want)
		}
	}
}

// TestWindowsEndWithTheFirstError: also for those that wait for the others of a window, and sleep.
func TestWindowsEndWithTheFirstError(t *testing.T) {
	broken := errors.New("broken")
	_, err := Windows(t.Context(), 4, Windowed[int]{Windows: 3, Items: 4, Partial: func() int { return 0 },
		Visit: func(_, window, item int) error {
			switch {
			case window == 1 && item == 3:
				time.Sleep(10 * wakeTime)
				return broken
			case window == 2:
				t.Error("the third window was entered")
			}
			return nil
		}, Combine: func(a, _ int) int { return a }})
	if !errors.Is(err, broken) {
		t.Error(err)
	}
}

func TestFoldEndsWithTheFirstError(t *testing.T) {
	broken := errors.New("broken")
	for _, jobs := range []int{1, 4} {
		visits := atomic.Int64{}
		_, err := Fold(t.Context(), jobs, 1_000_000, func() int { return 0 }, func(_, i int) error {
			visits.Add(1)
			return broken
		}, func(a, b int) int { return a + b })
		if !errors.Is(err, broken) || visits.Load() > 4 {
			t.Errorf("jobs=%d: %v after %d visits", jobs, err, visits.Load())
		}
	}
}

// TestBeside: a task and a stage are both done, on no more goroutines at a time than there
// are jobs, and the error of either is returned.
func TestBeside(t *testing.T) {
	broken := errors.New("broken")
	for _, jobs := range []int{1, 2, 4} {
		var busy, most, done atomic.Int64
		work := func() {
			most.Store(max(most.Load(), busy.Add(1)))
			time.Sleep(time.Millisecond)
			busy.Add(-1)
			done.Add(1)
		}
		stage := func(fail error) func(context.Context) error {
			return func(ctx context.Context) error {
				_, err := Map(ctx, jobs, 8, func(ctx context.Context, i int) (int, error) {
					// What an item does itself in parallel needs no turns.
					_, err := Map(ctx, 2, 2, func(context.Context, int) (int, error) { return 0, nil })
					work()
					return i, errors.Join(err, fail)
				})
				return err
			}
		}
		task := func(fail error) func(context.Context) error {
			return func(context.Context) error { work(); return fail }
		}
		if err := Beside(t.Context(), jobs, task(nil), stage(nil)); err != nil || done.Load() != 9 || most.Load() > int64(jobs) {
			t.Errorf("jobs=%d: %v, %d of 9 done, %d at a time", jobs, err, done.Load(), most.Load())
		}
		if err := Beside(t.Context(), jobs, task(broken), stage(nil)); !errors.Is(err, broken) {
			t.Errorf("jobs=%d, task: %v", jobs, err)
		}
		if err := Beside(t.Context(), jobs, task(nil), stage(broken)); !errors.Is(err, broken) {
			t.Errorf("jobs=%d, stage: %v", jobs, err)
		}
	}
}

// TestStageEndsBesideATask: a stage of several steps does not wait for the task beside it, though
// that holds one of the jobs.
func TestStageEndsBesideATask(t *testing.T) {
	for _, jobs := range []int{2, 5} {
		staged := make(chan struct{})
		err := Beside(t.Context(), jobs, func(context.Context) error {
			<-staged
			return nil
		}, func(ctx context.Context) error {
			defer close(staged)
			for range 3 {
				if _, err := Map(ctx, jobs, 100, func(_ context.Context, i int) (int, error) { return i, nil }); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			t.Errorf("jobs=%d: %v", jobs, err)
		}
	}
}

// TestDeal: whoever takes, each item is taken once, and who takes alone begins with a share of his
// own and goes on in order.
func TestDeal(t *testing.T) {
	for _, n := range []int{0, 1, 2, 7, 64, 1000} {
		for _, shares := range []int{1, 2, 3, 64} {
			d, taken := inShares(shares, n), make([]atomic.Int32, n)
			var wg sync.WaitGroup
			for worker := range 3 {
				wg.Go(func() {
					for i, ok := d.take(worker, 0); ok; i, ok = d.take(worker, 0) {
						taken[i].Add(1)
					}
				})
			}
			wg.Wait()
			for i := range taken {
				if got := taken[i].Load(); got != 1 {
					t.Errorf("%d items in %d shares: item %d is taken %d times", n, shares, i, got)
				}
			}
		}
	}
	var alone []int
	for d := inShares(3, 9); ; {
		i, ok := d.take(1, 0)
		if !ok {
			break
		}
		alone = append(alone, i)
	}
	if got := fmt.Sprint(alone); got != "[3 4 5 6 7 8 0 1 2]" {
		t.Errorf("the second of three workers takes %s", got)
	}
}
