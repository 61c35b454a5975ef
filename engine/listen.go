package engine

import (
	"sync/atomic"

	"tracekit/trace"
)

// A Listener receives what another stage decodes, so that the trace is decoded once for both. For each
// location it returns hear, which receives the batches in order, each before the stage; nil skips the
// location. It also returns end, which is called after the last batch, but not after an error, and
// may be nil. A Listener is called for several locations at the same time.
type Listener func(trace.LocationID) (hear func(*trace.Batch), end func())

// listened lets the listeners hear the batches of a location.
func (o *Options) listened(l trace.LocationID, batches Batches) Batches {
	var hear []func(*trace.Batch)
	var ends []func()
	for _, listen := range o.Listeners {
		h, end := listen(l)
		if h != nil {
			hear = append(hear, h)
		}
		if h != nil && end != nil {
			ends = append(ends, end)
		}
	}
	if len(hear) == 0 {
		return batches
	}
	return func(yield func(*trace.Batch, error) bool) {
		for b, err := range batches {
			if err == nil {
				for _, h := range hear {
					h(b)
				}
			}
			if !yield(b, err) || err != nil {
				return
			}
		}
		for _, end := range ends {
			end()
		}
	}
}

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

// Pass counts events that need not be read.
func (p *Progress) Pass(events uint64) {
	if p != nil {
		p.Done.Add(events)
	}
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
