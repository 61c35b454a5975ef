package engine

import (
	"context"
	"errors"
	"fmt"
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
