package engine

import "tracekit/trace"

// A Listener hears what another stage decodes, so that a trace is not decoded for each of them.
// Of each location that is decoded it returns what takes the batches, in order and each before the
// stage has it; nil: it is of no interest. It is called for several locations at the same time.
type Listener func(trace.LocationID) func(*trace.Batch)

// listened lets the listeners hear the batches of a location.
func (o *Options) listened(l trace.LocationID, batches Batches) Batches {
	var hear []func(*trace.Batch)
	for _, listen := range o.Listeners {
		if h := listen(l); h != nil {
			hear = append(hear, h)
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
			if !yield(b, err) {
				return
			}
		}
	}
}
