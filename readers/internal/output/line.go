// Package output is how formats of one file are written: pieces made by several goroutines and put down in order (Line); a file that
// appears complete or not at all (File); its compression on all processors (gzip).
package output

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// A Line works on items with several goroutines and ends with those of a queue in the order in
// which they were put in; so what is made of each queue does not depend on the number of workers. Its
// methods are for one goroutine.
type Line[T any] struct {
	work   func(T)       // on any goroutine
	end    func(T) error // in order; for items of different queues at the same time
	free   chan *place[T]
	held   *place[T] // that was taken
	todo   chan *place[T]
	queues []chan *place[T] // in order
	done   sync.WaitGroup
	failed atomic.Pointer[error] // the first of end
}

// A place holds an item of a line, which is used again and again.
type place[T any] struct {
	item  T
	ready chan struct{}
}

// Places returns how many items a line of so many workers has at most: one for each, one being
// filled, one being ended. More of them would only take memory that the processor does not have at hand.
func Places(workers int) int { return workers + 2 }

// NewLine starts the goroutines; a single worker is the caller itself. Items are made once.
func NewLine[T any](workers, queues int, item func() T, work func(T), end func(T) error) *Line[T] {
	l := &Line[T]{work: work, end: end}
	if workers == 1 {
		l.held = &place[T]{item: item()}
		return l
	}
	n := Places(workers)
	l.free, l.todo, l.queues = make(chan *place[T], n), make(chan *place[T], n), make([]chan *place[T], queues)
	for range n {
		l.free <- &place[T]{item(), make(chan struct{}, 1)}
	}
	for range workers {
		l.done.Go(func() {
			for p := range l.todo {
				l.work(p.item)
				p.ready <- struct{}{}
			}
		})
	}
	for k := range l.queues {
		queue := make(chan *place[T], n)
		l.queues[k] = queue
		l.done.Go(func() {
			for p := range queue {
				<-p.ready
				l.finish(p.item)
				l.free <- p
			}
		})
	}
	return l
}

// finish ends with an item, unless another one could not be.
func (l *Line[T]) finish(item T) {
	if l.err() != nil {
		return
	}
	if err := l.end(item); err != nil {
		l.failed.CompareAndSwap(nil, &err)
	}
}

func (l *Line[T]) err() error {
	if err := l.failed.Load(); err != nil {
		return *err
	}
	return nil
}

// Take returns an item to be filled for the next Put.
func (l *Line[T]) Take() T {
	if l.free != nil {
		l.held = <-l.free
	}
	return l.held.item
}

// Put puts the item that was taken into a queue. It returns the error of an item before.
func (l *Line[T]) Put(queue int) error {
	if l.free == nil {
		l.work(l.held.item)
		l.finish(l.held.item)
		return l.err()
	}
	l.queues[queue] <- l.held
	l.todo <- l.held
	return l.err()
}

// Close waits until all items are ended. It returns their first error.
func (l *Line[T]) Close() error {
	if l.free != nil {
		close(l.todo)
		for _, queue := range l.queues {
			close(queue)
		}
		l.done.Wait()
	}
	return l.err()
}

// maxWorkers bounds the workers of a line: one goroutine fills and one ends, for which more
// would wait.
const maxWorkers = 8

// Workers returns how many goroutines a line should have for a number of jobs, of which less
// than 1 stands for one per processor.
func Workers(jobs int) int {
	if jobs < 1 {
		jobs = runtime.GOMAXPROCS(0)
	}
	return min(jobs, maxWorkers)
}
