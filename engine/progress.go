package engine

import (
	"sync/atomic"

	"tracekit/trace"
)

// Progress counts the events that were decoded. The counters may be read at any time from
// any goroutine; who draws them, and where, is the caller's business. A nil Progress
// counts nothing.
type Progress struct {
	Done  atomic.Uint64 // events decoded so far, over all passes
	Total atomic.Uint64 // events that the definitions announce, over the passes begun so far
}

// begin adds a pass over some locations to the total. The announced numbers are hints.
func (p *Progress) begin(locations []trace.Location, some []trace.LocationID) {
	if p == nil {
		return
	}
	var n uint64
	for _, l := range some {
		n += locations[l].Events
	}
	p.Total.Add(n)
}

// watch returns the same batches and counts their events.
func (p *Progress) watch(batches Batches) Batches {
	if p == nil {
		return batches
	}
	return func(yield func(*trace.Batch, error) bool) {
		for b, err := range batches {
			if err == nil {
				p.Done.Add(uint64(b.Len()))
			}
			if !yield(b, err) {
				return
			}
		}
	}
}
