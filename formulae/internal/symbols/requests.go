package symbols

import (
	"slices"

	"tracekit/codec"
	"tracekit/trace"
)

// A requestCode says how an event names its request.
type requestCode uint8

const (
	requestNone    requestCode = iota // it is 0
	requestOpen                       // the request-th of those that are open, oldest first
	requestReused                     // the one that was closed request closings ago
	requestNext                       // the newest one plus request, zigzag
	requestLiteral                    // it follows as a value
)

// requests predicts the request identifiers of a location, which are meaningless numbers:
// a new one is a count or a number that became free, a completion names one that is open.
// Named like this, the requests of all iterations, and of all ranks, are the same symbols.
// Encoder and decoder see the same events and so keep the same state.
type requests struct {
	open   []uint64 // in the order of starting
	closed []uint64 // the last that were closed, newest last
	newest uint64
}

// How many requests are remembered; of more, the oldest are forgotten and named literally.
const (
	maxOpen   = 4096
	maxClosed = 64
)

// A requestRole says what an event does to its request: an MPI request is started by the call
// that does not block, named by tests, and completed or cancelled once.
type requestRole uint8

const (
	roleNone requestRole = iota
	roleStarts
	roleNames
	roleCompletes
)

// requestRoleOf returns what events of a kind do to their requests.
func requestRoleOf(k trace.Kind) requestRole {
	switch {
	case k.StartsRequest():
		return roleStarts
	case k == trace.KindMpiRequestTest:
		return roleNames
	case k.UsesRequest():
		return roleCompletes
	}
	return roleNone
}

// encode returns how the request of an event is named. It changes nothing.
func (r *requests) encode(role requestRole, id uint64) (requestCode, uint64) {
	switch role {
	case roleStarts:
		for i := len(r.closed) - 1; i >= 0; i-- {
			if r.closed[i] == id {
				return requestReused, uint64(len(r.closed) - 1 - i)
			}
		}
		if d := codec.Zigzag(id - r.newest); d < 1<<16 {
			return requestNext, d
		}
		return requestLiteral, 0
	case roleNames, roleCompletes:
		if i := slices.Index(r.open, id); i >= 0 {
			return requestOpen, uint64(i)
		}
	}
	if id == 0 {
		return requestNone, 0
	}
	return requestLiteral, 0
}

// decode is the inverse of encode; ok is false if there is no such request.
func (r *requests) decode(how requestCode, v uint64) (id uint64, ok bool) {
	switch how {
	case requestNone:
		return 0, true
	case requestOpen:
		if v < uint64(len(r.open)) {
			return r.open[v], true
		}
	case requestReused:
		if v < uint64(len(r.closed)) {
			return r.closed[uint64(len(r.closed))-1-v], true
		}
	case requestNext:
		return r.newest + codec.Unzigzag(v), true
	}
	return 0, false
}

// update applies what an event does.
func (r *requests) update(role requestRole, id uint64) {
	switch role {
	case roleStarts:
		if i := slices.Index(r.closed, id); i >= 0 {
			r.closed = slices.Delete(r.closed, i, i+1)
		}
		r.newest = id
		if len(r.open) == maxOpen {
			r.open = slices.Delete(r.open, 0, maxOpen/2)
		}
		r.open = append(r.open, id)
	case roleCompletes:
		i := slices.Index(r.open, id)
		if i < 0 {
			return
		}
		r.open = slices.Delete(r.open, i, i+1)
		if len(r.closed) == maxClosed {
			r.closed = slices.Delete(r.closed, 0, maxClosed/4)
		}
		r.closed = append(r.closed, id)
	}
}
