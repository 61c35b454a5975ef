package formulae

import (
	"math"

	"tracekit/trace"
)

// A regime says where the time before an event begins.
type regime uint8

const (
	free    regime = iota // at the event before
	blocked               // when the partner was ready: until then the call waited for it
	further               // at another completion in the same call
	regimes
)

// regimesOf returns how many regimes there are for events of a kind: those that complete
// communication have all.
func regimesOf(k trace.Kind) int {
	if completes(k) {
		return int(regimes)
	}
	return 1
}

// completes reports whether events of a kind complete what a call may wait for. Of
// non-blocking collectives the members' requests name no communicator, so that nobody can
// be waited for when events are rebuilt.
func completes(k trace.Kind) bool {
	switch k {
	case trace.KindMpiRecv, trace.KindMpiIrecv, trace.KindMpiIsendComplete, trace.KindCollectiveEnd:
		return true
	}
	return false
}

// A spell is the time before an item in one regime.
type spell struct {
	count  uint64
	time   uint64 // sum, in ticks
	sample *reservoir
}

// mean returns the mean in 1/meanUnit ticks.
func (s *spell) mean() uint64 { return meanOf(s.time, s.count) }

// never is before all times.
const never = math.MinInt64

// interval charges the time since the last event to an item, but for the time that the
// call waits: replaying makes that again.
func (t *callTree) interval(i *treeItem, time int64) {
	if t.clock != nil {
		time = t.clock.At(time)
	}
	if !t.begun {
		t.first, t.last, t.begun = time, time, true
	}
	time = max(time, t.last)
	from, r := t.last, free
	if completes(i.kind) {
		if ready := min(t.release, time); ready > from {
			t.waited += uint64(ready - from)
			if !t.completing {
				i.waited += uint64(ready - from)
			}
			from, r = ready, blocked
		}
		if t.completing {
			r = further
		}
		t.completing = true
	} else {
		t.completing = false
	}
	s := &i.spells[r]
	s.count++
	s.time += uint64(time - from)
	if t.sampling {
		s.keep(uint64(time - from))
	}
	t.last = time
}
