package pattern

import "tracekit/trace"

// requests names the requests of a location by their age, which is alike in intervals that
// are alike: how many requests were started since, with its own. Numbers of requests in
// traces are not.
type requests struct {
	started uint64
	open    map[uint64]uint64 // number of the request: when it was started
}

// event follows an event. It returns the age of the request that it is about, 0 if it is not
// known when that was started, unless it starts one or is about none.
func (r *requests) event(k trace.Kind, number uint64) (age uint64, used bool) {
	switch {
	case k.StartsRequest():
		if r.open == nil {
			r.open = make(map[uint64]uint64)
		}
		r.started++
		r.open[number] = r.started
		return 0, false
	case k.UsesRequest():
		at, known := r.open[number]
		if !known {
			return 0, true
		}
		if k != trace.KindMpiRequestTest {
			delete(r.open, number)
		}
		return r.started - at + 1, true
	}
	return 0, false
}
