package stats

import (
	"cmp"
	"slices"

	"tracekit/spill"
	"tracekit/trace"
)

// messagePairs says which pair of call paths each message joins. It is made on the way of
// the walk over all calls, when both ends of a message are at hand, so that the overhead of
// a call can be charged to its messages without looking at their other ends.
//
// A nil pointer takes nothing.
type messagePairs struct {
	sums   []pairSum // pair n is sums[n-1]
	number map[pathPair]uint32
	last   uint32                 // the pair of the message before; 0: there is none
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

// join notes the pair of the message that is received in a row of location l.
func (m *messagePairs) join(l trace.LocationID, row uint32, r *trace.Recv, p pathPair) {
	if m == nil {
		return
	}
	if m.last == 0 || m.sums[m.last-1].pathPair != p {
		m.last = m.pair(p)
	}
	*m.sends[r.SendLoc].Ptr(int(r.Send)) = m.last
	if p.recv != trace.None {
		*m.recvs[l].Ptr(int(row)) = m.last
	}
}

// pair returns the number of a pair.
func (m *messagePairs) pair(p pathPair) uint32 {
	n, ok := m.number[p]
	if !ok {
		m.sums = append(m.sums, pairSum{pathPair: p})
		n = uint32(len(m.sums))
		m.number[p] = n
	}
	return n
}

// charged returns the sums of the pairs of which a call of the selection has an end, in
// order of paths.
func (m *messagePairs) charged() []pairSum {
	out := slices.DeleteFunc(slices.Clone(m.sums), func(s pairSum) bool { return !s.charged })
	slices.SortFunc(out, func(a, b pairSum) int {
		return cmp.Or(cmp.Compare(a.send, b.send), cmp.Compare(a.recv, b.recv))
	})
	return out
}

// release lets the tables go; the sums stay.
func (m *messagePairs) release() {
	for l := range m.sends {
		m.sends[l].Release()
		m.recvs[l].Release()
	}
}
