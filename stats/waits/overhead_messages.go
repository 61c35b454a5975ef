package waits

import (
	"sync"

	"tracekit/spill"
	"tracekit/trace"
)

// messagePairs says which pair of call paths each message joins. It is made on the way of
// the walk over all calls, when both ends of a message are at hand, so that the overhead of
// a call can be charged to its messages without looking at their other ends. Numbers of
// pairs depend on who meets them first, and do not show.
type messagePairs struct {
	lock   sync.Mutex
	Paths  []PathPair // pair n is paths[n-1]
	number map[PathPair]uint32
	Recvs  []*spill.Table[messagePair] // by location and receive

	// ended are by location the matched sends that a later call completes than the one that posts
	// them, in order of those calls.
	Ended []*spill.Table[RowInFlight]
}

// NewMessagePairs returns what no message was put into.
func NewMessagePairs(t *trace.Trace) *messagePairs {
	m := &messagePairs{number: make(map[PathPair]uint32), Ended: make([]*spill.Table[RowInFlight], len(t.Calls))}
	for l := range t.Calls {
		m.Recvs = append(m.Recvs, spill.NewZeros[messagePair](t.Store, t.Recvs[l].Len()))
	}
	return m
}

// A pairCache remembers the pairs that one goroutine has met.
type pairCache struct {
	last     PathPair
	number   uint32 // of last; 0: none was met
	known    map[PathPair]uint32
	Received []uint64 // by number, less 1: messages whose receive a communication event of the selection completes
}

// merge adds what another goroutine has counted.
func (c *pairCache) merge(o *pairCache) {
	c.reach(len(o.Received))
	for p, n := range o.Received {
		c.Received[p] += n
	}
}

// reach makes room for the counts of so many pairs.
func (c *pairCache) reach(pairs int) {
	if more := pairs - len(c.Received); more > 0 {
		c.Received = append(c.Received, make([]uint64, more)...)
	}
}

// join returns the pair of a message, which counts if its receive is completed by a
// communication event of the selection.
func (m *messagePairs) join(met *pairCache, p PathPair, counts bool) messagePair {
	if met.last != p || met.number == 0 {
		met.last, met.number = p, m.pair(met, p)
	}
	if p.Recv == trace.None {
		return messagePair(met.number << 1)
	}
	if counts {
		met.Received[met.number-1]++
	}
	return messagePair(met.number<<1 | 1)
}

// A messagePair is the number of the pair that a message joins, 0 if it is not matched, and
// in its lowest bit whether a call completes the receive.
type messagePair uint32

func (m messagePair) Number() uint32 { return uint32(m >> 1) }

func (m messagePair) InCall() bool { return m&1 != 0 }

// pair returns the number of a pair.
func (m *messagePairs) pair(met *pairCache, p PathPair) uint32 {
	n, ok := met.known[p]
	if ok {
		return n
	}
	m.lock.Lock()
	defer m.lock.Unlock()
	if n, ok = m.number[p]; !ok {
		m.Paths = append(m.Paths, p)
		n = uint32(len(m.Paths))
		m.number[p] = n
	}
	if met.known == nil {
		met.known = make(map[PathPair]uint32)
	}
	met.known[p] = n
	met.reach(int(n))
	return n
}

// seal ends the calls of a location.
func (m *messagePairs) seal(l trace.LocationID) {
	if m != nil {
		m.Ended[l] = m.Ended[l].Sealed()
	}
}

// Release lets the tables go.
func (m *messagePairs) Release() {
	for l := range m.Recvs {
		m.Recvs[l].Release()
		m.Ended[l].Release()
	}
}

// A PathPair is the path of the call that posts a send and of the one that completes the
// receive.
type PathPair struct{ Send, Recv trace.PathID }
