package stats

import (
	"sync"

	"tracekit/spill"
	"tracekit/trace"
)

// messagePairs says which pair of call paths each message joins. It is made on the way of
// the walk over all calls, when both ends of a message are at hand, so that the overhead of
// a call can be charged to its messages without looking at their other ends. Numbers of
// pairs depend on who meets them first, and do not show.
//
// A nil pointer takes nothing.
type messagePairs struct {
	lock   sync.Mutex
	paths  []pathPair // pair n is paths[n-1]
	number map[pathPair]uint32
	sends  []*spill.Table[uint32] // by location and send: its pair; 0: it is not matched
	recvs  []*spill.Table[uint32] // by location and receive: its pair; 0: no call completes it or it is not matched
}

func newMessagePairs(t *trace.Trace) *messagePairs {
	m := &messagePairs{number: make(map[pathPair]uint32)}
	for l := range t.Calls {
		m.sends = append(m.sends, spill.NewZeros[uint32](t.Store, t.Sends[l].Len()))
		m.recvs = append(m.recvs, spill.NewZeros[uint32](t.Store, t.Recvs[l].Len()))
	}
	return m
}

// A pairCache remembers the pairs that one goroutine has met.
type pairCache struct {
	last   pathPair
	number uint32 // of last; 0: none was met
	known  map[pathPair]uint32
}

// join notes the pair of the message that is received in a row of location l.
func (m *messagePairs) join(met *pairCache, l trace.LocationID, row uint32, r *trace.Recv, p pathPair) {
	if m == nil {
		return
	}
	if met.number == 0 || met.last != p {
		met.last, met.number = p, m.pair(met, p)
	}
	*m.sends[r.SendLoc].Ptr(int(r.Send)) = met.number
	if p.recv != trace.None {
		*m.recvs[l].Ptr(int(row)) = met.number
	}
}

// pair returns the number of a pair.
func (m *messagePairs) pair(met *pairCache, p pathPair) uint32 {
	n, ok := met.known[p]
	if ok {
		return n
	}
	m.lock.Lock()
	defer m.lock.Unlock()
	if n, ok = m.number[p]; !ok {
		m.paths = append(m.paths, p)
		n = uint32(len(m.paths))
		m.number[p] = n
	}
	if met.known == nil {
		met.known = make(map[pathPair]uint32)
	}
	met.known[p] = n
	return n
}

// release lets the tables go.
func (m *messagePairs) release() {
	for l := range m.sends {
		m.sends[l].Release()
		m.recvs[l].Release()
	}
}
