package engine

import "context"

// An Exchange brings rows from the items in which they arise to the keys that they belong
// to, a window of the run after the other: in each window all sources emit rows, then every
// key takes those emitted to it, in order of sources. No source and no key is visited by two
// goroutines at a time, so that what belongs to one needs no lock.
type Exchange[R any] struct {
	Windows       int
	Sources, Keys int
	Emit          func(window, source int, rows [][]R) // appends what a source emits to the rows of each key
	Take          func(window, key int, rows []R)      // for some sources at a time as far as they have emitted any, in order, then once without rows
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
	for w := range x.Windows {
		err := shared(ctx, jobs, len(sent), func(ctx context.Context, _, e int) error {
			for s := first(e); s < first(e+1) && ctx.Err() == nil; s++ {
				x.Emit(w, s, sent[e])
			}
			return nil
		})
		if err != nil {
			return err
		}
		err = shared(ctx, jobs, x.Keys, func(_ context.Context, _, key int) error {
			for s := range sent {
				if rows := sent[s][key]; len(rows) > 0 {
					x.Take(w, key, rows)
					sent[s][key] = rows[:0]
				}
			}
			x.Take(w, key, nil)
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}
