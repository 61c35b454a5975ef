package engine

import "tracekit/trace"

// A Listener hears what another stage decodes, so that a trace is not decoded for each of them.
// Of each location that is decoded it returns what takes the batches, in order and each before the
// stage has it; nil: it is of no interest. What is returned beside it is called when the last one was
// heard, and not after an error; it may be nil. A Listener is called for several locations at the
// same time.
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
