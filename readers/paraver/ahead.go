package paraver

import (
	"context"
	"sync"
)

// maxWorkers bounds the goroutines that decode: more would wait for what cannot be done in
// parallel.
const maxWorkers = 8

// An ahead reads a text, and decodes it, before the reading comes to it: one goroutine reads
// (and uncompresses) blocks, workers decode them at once, and the reading takes them in the
// order of the text. So the result does not depend on the workers.
type ahead struct {
	free  chan *block   // not in use
	work  chan *block   // to be decoded
	queue chan *block   // in the order of the text; closed at its end
	stop  chan struct{} // closed when no more is wanted
	done  sync.WaitGroup
	total int // of blocks
}

// newAhead starts the goroutines; close ends them.
func newAhead(ctx context.Context, c *cutter, t *tables, workers, threads int) *ahead {
	n := 2*workers + 2 // two for each worker, one being read, one being taken
	a := &ahead{free: make(chan *block, n), work: make(chan *block, n), queue: make(chan *block, n),
		stop: make(chan struct{}), total: n}
	for range n {
		a.free <- newBlock()
	}
	a.done.Go(func() { a.fill(ctx, c) })
	for range workers {
		d := &decoder{tables: t, slots: make([]uint32, threads), calls: make([]bool, threads)}
		a.done.Go(func() { a.decode(d) })
	}
	return a
}

// fill reads the text into blocks. No send waits: there is room for all of them. There is one block
// with a long line at a time, so that such lines do not cost the memory of many.
func (a *ahead) fill(ctx context.Context, c *cutter) {
	defer close(a.queue)
	defer close(a.work)
	var held []*block
	alone := func() {
		for len(held) < a.total-1 {
			b := a.unused()
			if b == nil {
				return
			}
			held = append(held, b)
		}
	}
	for more := true; more; {
		b := a.unused()
		if b == nil {
			return
		}
		more = c.next(ctx, b, alone)
		a.queue <- b
		a.work <- b
		for _, b := range held {
			a.free <- b
		}
		held = held[:0]
	}
}

// unused returns a block that is not in use, nil if no more is wanted.
func (a *ahead) unused() *block {
	select {
	case b := <-a.free:
		return b
	case <-a.stop:
		return nil
	}
}

// decode decodes blocks as far as that can be done without those before.
func (a *ahead) decode(d *decoder) {
	for b := range a.work {
		d.RLock()
		b.version = d.version
		b.stop = d.decode(b, 0)
		d.RUnlock()
		for i := range b.threads {
			l := &b.threads[i]
			d.slots[l.location], d.calls[l.location] = 0, l.calls
		}
		b.ready <- struct{}{}
	}
}

// close ends the goroutines and waits for them.
func (a *ahead) close() {
	close(a.stop)
	a.done.Wait()
}
