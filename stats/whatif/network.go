package whatif

import (
	"context"
	"math/bits"
	"slices"
	"strings"

	"tracekit/engine"
	"tracekit/stats"
	"tracekit/trace"
)

// A network is what the trace shows of the time that messages need, in ticks.
type network struct {
	flights     [flightKinds]map[uint64]*flight // by class of size
	overhead    int64                           // of the shortest call that sends
	floor       int64                           // of the shortest call that completes something
	synchronous uint64                          // size from which on a send waits for its receiver
	always      []bool                          // by region: it does so whatever the size
}

// A flightKind says what must be entered before what can be left.
type flightKind uint8

const (
	sendToRecv     flightKind = iota // until the blocking receive of the message
	sendToWait                       // until the call that completes its non-blocking receive
	postToSend                       // from posting the receive until the blocking send
	postToSendWait                   // from there until the call that completes the send
	flightKinds
)

// A flight is about messages of one class of size.
//
// least and present are the shortest times until a call is left: from the other side's call,
// and from its own Enter where the other side was there before. A call that needs the other
// side only for its own end does so least-present after that.
type flight struct {
	least, present  int64
	bytes           uint64 // of the message with the least time
	known           bool   // present is
	blocked, passed uint64 // calls that waited for the other side, and that were left before it was there
}

func (f *flight) merge(o *flight) {
	if o.least < f.least || o.least == f.least && o.bytes < f.bytes {
		f.least, f.bytes = o.least, o.bytes
	}
	if o.known && (!f.known || o.present < f.present) {
		f.present, f.known = o.present, true
	}
	f.blocked += o.blocked
	f.passed += o.passed
}

// never is longer than any time.
const never = 1<<63 - 1

func newNetwork() *network {
	n := &network{overhead: never, floor: never}
	for k := range n.flights {
		n.flights[k] = make(map[uint64]*flight)
	}
	return n
}

func (n *network) merge(o *network) *network {
	for kind := range n.flights {
		for size, f := range o.flights[kind] {
			if have := n.flights[kind][size]; have != nil {
				have.merge(f)
			} else {
				n.flights[kind][size] = f
			}
		}
	}
	n.overhead, n.floor = min(n.overhead, o.overhead), min(n.floor, o.floor)
	return n
}

// classOf returns the smallest size of a class: sizes that agree in their first five bits.
func classOf(bytes uint64) uint64 {
	shift := max(0, bits.Len64(bytes)-5)
	return bytes >> shift << shift
}

// add takes note of a call that needs another one, which was entered at.
func (n *network) add(kind flightKind, bytes uint64, c *trace.Call, at int64) *flight {
	f := n.flights[kind][classOf(bytes)]
	if f == nil {
		f = &flight{least: never}
		n.flights[kind][classOf(bytes)] = f
	}
	o := flight{least: c.Leave - at, bytes: bytes}
	if c.Enter >= at {
		o.present, o.known = c.Leave-c.Enter, true
	}
	f.merge(&o)
	return f
}

// calibrate finds how long messages are on their way, and which sends wait for receivers.
func (m *Model) calibrate(ctx context.Context, waits stats.CallWaits) (*network, error) {
	always := make([]bool, len(m.t.Defs.Regions))
	for i, r := range m.t.Defs.Regions {
		name := strings.ToLower(m.t.Defs.String(r.Name))
		always[i] = strings.Contains(name, "mpi_ssend") || strings.Contains(name, "mpi_issend")
	}
	n, err := engine.Fold(ctx, m.jobs, len(m.t.Calls), newNetwork, func(n *network, l int) error {
		n.always = always
		m.observe(n, trace.LocationID(l), waits[l])
		return nil
	}, (*network).merge)
	if err != nil {
		return nil, err
	}
	n.always = always
	n.synchronous = n.threshold()
	return n, nil
}

// observe takes note of the messages of a location.
func (m *Model) observe(n *network, l trace.LocationID, waits *stats.WaitTable) {
	calls := m.t.Calls[l]
	for _, rows := range m.t.Recvs[l].Rows {
		for i := range rows {
			r := &rows[i]
			if r.State != trace.Matched || r.Call == trace.None {
				continue
			}
			c := calls.Ptr(int(r.Call))
			n.floor = min(n.floor, c.Leave-c.Enter)
			if at, ok := m.sent(r); ok {
				n.add(arrivalOf(r), r.Bytes, c, at)
			}
		}
	}
	for _, rows := range m.t.Sends[l].Rows {
		for i := range rows {
			s := &rows[i]
			if s.Call == trace.None {
				continue
			}
			c := calls.Ptr(int(s.Call))
			n.overhead = min(n.overhead, c.Leave-c.Enter)
			kind, ok := acknowledgement(s, calls)
			if !ok {
				continue
			}
			if post, at, ok := m.posted(s); ok {
				done := calls.Ptr(int(s.Done))
				f := n.add(kind, s.Bytes, done, at)
				if n.isAlways(c) || post == trace.None || at <= done.Enter {
					continue
				}
				switch k := waits.At(int(s.Done)).Kind; {
				case at >= done.Leave:
					f.passed++
				case k == stats.LateReceiver || k == stats.LateReceiverBehindLateSender:
					f.blocked++
				}
			}
		}
	}
}

// arrivalOf says what completes a receive.
func arrivalOf(r *trace.Recv) flightKind {
	if r.Post == r.Call {
		return sendToRecv
	}
	return sendToWait
}

// acknowledgement says what completes a send if that may wait for the receiver.
func acknowledgement(s *trace.Send, calls callTable) (flightKind, bool) {
	if s.State != trace.Matched || s.Done == trace.None {
		return 0, false
	}
	switch class := calls.Ptr(int(s.Done)).Class; {
	case s.Done == s.Call:
		return postToSend, class == trace.ClassSend
	default:
		return postToSendWait, class == trace.ClassWait
	}
}

// sent returns when the call is entered that sends a received message.
func (m *Model) sent(r *trace.Recv) (at int64, ok bool) {
	s := m.t.Sends[r.SendLoc].Ptr(int(r.Send))
	if s.Call == trace.None {
		return 0, false
	}
	return m.t.Calls[r.SendLoc].Ptr(int(s.Call)).Enter, true
}

// posted returns the call that posts the receive of a message, and when it is entered.
func (m *Model) posted(s *trace.Send) (post uint32, at int64, ok bool) {
	r := m.t.Recvs[s.RecvLoc].Ptr(int(s.Recv))
	if r.Post == trace.None {
		return r.Post, 0, false
	}
	return r.Post, m.t.Calls[s.RecvLoc].Ptr(int(r.Post)).Enter, true
}

func (n *network) isAlways(c *trace.Call) bool {
	return int(c.Region) < len(n.always) && n.always[c.Region]
}

// waits reports whether a send that call c posts waits for its receiver.
func (n *network) waits(c *trace.Call, bytes uint64) bool {
	return bytes >= n.synchronous || n.isAlways(c)
}

// threshold returns the size that divides best those sends that are seen to wait for their
// receivers from those that go on before, of several the largest.
func (n *network) threshold() uint64 {
	type count struct{ blocked, passed uint64 }
	counts := make(map[uint64]count)
	var sizes []uint64
	wrong := uint64(0) // if none waited
	for _, kind := range []flightKind{postToSend, postToSendWait} {
		for size, f := range n.flights[kind] {
			c, known := counts[size]
			if !known {
				sizes = append(sizes, size)
			}
			counts[size] = count{c.blocked + f.blocked, c.passed + f.passed}
			wrong += f.blocked
		}
	}
	slices.Sort(sizes)
	best, at := wrong, uint64(never)
	for _, size := range slices.Backward(sizes) {
		wrong = wrong - counts[size].blocked + counts[size].passed
		if wrong < best {
			best, at = wrong, size
		}
	}
	return at
}

// lag returns by how much the end of a call follows the entering of the call that it needs at
// least, its own time left out.
func (n *network) lag(kind flightKind, bytes uint64) int64 {
	f := n.flights[kind][classOf(bytes)]
	if f == nil {
		return 0
	}
	switch {
	case kind == postToSend && f.known: // it needs the other side when it has begun to send
		return min(0, max(-n.overhead, f.least-f.present))
	case kind == postToSend:
		return 0
	case f.known:
		return max(0, f.least-f.present)
	}
	return max(0, f.least-n.floor)
}
