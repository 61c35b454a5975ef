package partners

import "tracekit/trace"

// A Regime says where the interval before an event begins.
type Regime uint8

// The regimes.
const (
	Free    Regime = iota // at the event before
	Blocked               // when the partner was ready: until then the call waited for it
	Further               // at another completion in the same call
)

// Regimes returns how many regimes there are for events of a kind: those that complete
// communication have all.
func Regimes(k trace.Kind) int {
	if Completes(k) {
		return int(Further) + 1
	}
	return 1
}

// Completes reports whether events of a kind complete what a call may wait for. Of
// non-blocking collectives the members' requests name no communicator, so that nobody can
// be waited for when events are rebuilt.
func Completes(k trace.Kind) bool {
	switch k {
	case trace.KindMpiRecv, trace.KindMpiIrecv, trace.KindMpiIsendComplete, trace.KindCollectiveEnd:
		return true
	}
	return false
}
