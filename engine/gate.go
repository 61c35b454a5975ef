package engine

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// A gate counts what is done, for those that wait until so much is.
type gate struct {
	done atomic.Int64

	mu   sync.Mutex
	open chan struct{} // is closed when what is due is done; nil: nobody sleeps
}

// add counts one more and lets those go on that wait for what is due, if it is the last.
func (g *gate) add(due int64) {
	if g.done.Add(1) < due {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.open != nil {
		close(g.open)
		g.open = nil
	}
}

// wakeTime is about how long it takes until a processor that sleeps is at work. The others of a round are done sooner, mostly: who waits
// for them looks so long whether they are before it sleeps.
const wakeTime = 100 * time.Microsecond

// wait waits until what is due is done, or ctx is cancelled.
func (g *gate) wait(ctx context.Context, due int64) {
	through := func() bool { return g.done.Load() >= due || ctx.Err() != nil }
	for begin := time.Now(); !through() && time.Since(begin) < wakeTime; {
		runtime.Gosched()
	}
	g.mu.Lock()
	if through() {
		g.mu.Unlock()
		return
	}
	if g.open == nil {
		g.open = make(chan struct{})
	}
	open := g.open
	g.mu.Unlock()
	select {
	case <-open:
	case <-ctx.Done():
	}
}
