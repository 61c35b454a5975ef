package formulae

import (
	"math"

	"tracekit/trace"
)

// A Regime says where the interval before an event begins.
type Regime uint8

// The regimes.
const (
	Free    Regime = iota // at the event before
	Blocked               // when the partner was ready: until then the call waited for it
	Further               // at another completion in the same call
	regimes
)

// Regimes returns how many regimes there are for events of a kind: those that complete
// communication have all.
func Regimes(k trace.Kind) int {
	if Completes(k) {
		return int(regimes)
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

// intervals are the times before an item in one regime.
type intervals struct {
	count  uint64
	time   uint64 // sum, in ticks
	sample *reservoir
}

// mean returns the mean in 1/MeanUnit ticks.
func (s *intervals) mean() uint64 { return Mean(s.time, s.count) }

// never is before all times.
const never = math.MinInt64

// charge charges the time since the last event to an item of a node, but for the time that
// the call waits: replaying makes that again.
func (t *CallTree) charge(n *treeNode, i *treeItem, time int64) {
	if t.clock != nil {
		time = t.clock.At(time)
	}
	if !t.begun {
		t.first, t.last, t.begun = time, time, true
	}
	time = max(time, t.last)
	n.spent += uint64(time - t.last)
	from, r := t.last, Free
	if Completes(i.kind) {
		if ready := min(t.release, time); ready > from {
			t.waited += uint64(ready - from)
			if !t.completing {
				i.waited += uint64(ready - from)
			}
			from, r = ready, Blocked
		}
		if t.completing {
			r = Further
		}
		t.completing = true
	} else {
		t.completing = false
	}
	s := &i.intervals[r]
	s.count++
	s.time += uint64(time - from)
	if t.sampling {
		s.keep(uint64(time - from))
	}
	t.last = time
}

// means returns the mean interval before an item in each regime. Where a regime never came
// up, that of the other stands in: who never waited may do so when events are rebuilt.
func (i *treeItem) means() []uint64 {
	m := make([]uint64, Regimes(i.kind))
	for r := range m {
		m[r] = i.intervals[r].mean()
	}
	if len(m) > 1 {
		switch {
		case i.intervals[Free].count == 0:
			m[Free] = m[Blocked]
		case i.intervals[Blocked].count == 0:
			m[Blocked] = m[Free]
		}
	}
	return m
}

// completion returns the mean time before an item that completes communication, waiting
// included, but for completions behind another one in the same call; 0 for other items.
func (i *treeItem) completion() uint64 {
	if !Completes(i.kind) {
		return 0
	}
	free, blocked := &i.intervals[Free], &i.intervals[Blocked]
	return Mean(i.waited+free.time+blocked.time, free.count+blocked.count)
}
