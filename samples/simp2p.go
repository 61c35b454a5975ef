package samples

import "tracekit/trace"

// A message is one that was sent.
type message struct {
	from, to *rank
	envelope       // as the receiver sees it: peer is the sender
	enter    int64 // of the call that posts it
	eager    bool  // does not wait for the receive
	hidden   bool  // its send is not recorded
	network  *Network
	recv     *receive
	charge   *charge // of the call that completed it before it was received
}

// arrival returns when the message is at the receiver, if that is known.
func (m *message) arrival() (int64, bool) {
	switch {
	case m.eager:
		return m.enter + sendCost + m.network.transfer(m.bytes), true
	case m.recv == nil:
		return 0, false
	}
	return max(m.enter+sendCost, m.recv.post) + m.network.transfer(m.bytes), true
}

// announced returns when the receiver can know of the message.
func (m *message) announced() int64 { return m.enter + sendCost + m.network.Latency }

// done returns when the sender may go on, if that is known.
func (m *message) done() (int64, bool) {
	if m.eager {
		return m.enter + sendCost, true
	}
	return m.arrival()
}

// A receive is one that was posted.
type receive struct {
	rank       *rank
	envelope          // with wildcards
	post       int64  // enter of the call that posts it
	id         uint64 // of its request; 0: blocking
	message    *message
	cancelled  bool
	cancelTime int64
}

// done returns when the receive is complete, if that is known.
func (r *receive) done() (int64, bool) {
	if r.cancelled {
		return r.cancelTime, true
	}
	if r.message == nil {
		return 0, false
	}
	t, known := r.message.arrival()
	return max(t, r.post), known
}

// matches reports whether the receive takes the message.
func (e envelope) matches(m *message) bool {
	return e.comm == m.comm && (e.peer == anySource || e.peer == m.peer) && (e.tag == anyTag || e.tag == m.tag)
}

// post sends a message.
func (s *simulation) post(r *rank, o *op, id uint64) *message {
	comm := &s.comms[o.send.comm]
	to := s.ranks[comm.peer(r.id, o.send.peer)]
	m := &message{from: r, to: to, envelope: o.send, enter: r.clock, hidden: o.hidden, network: s.network}
	m.peer = comm.rankOf(r.id)
	m.eager = o.kind == opBsend || o.kind == opSendrecv || o.kind != opSsend && m.bytes <= eagerLimit
	if !o.hidden {
		row := trace.P2PRow{Time: r.clock + recordCost, Kind: trace.KindMpiSend, Peer: uint32(o.send.peer), Comm: m.comm,
			Tag: uint32(m.tag), Bytes: uint64(m.bytes), Request: id}
		if id != 0 {
			row.Kind = trace.KindMpiIsend
		}
		r.master.p2p(row)
	}
	for i, p := range to.posted {
		if p.matches(m) {
			to.posted = append(to.posted[:i], to.posted[i+1:]...)
			s.match(m, p)
			return m
		}
	}
	to.waiting = append(to.waiting, m)
	if to.blocked && to.call.op.kind == opProbe {
		s.unblock(to)
	}
	return m
}

// receive posts a receive.
func (s *simulation) receive(r *rank, o *op, id uint64) *receive {
	p := &receive{rank: r, envelope: o.recv, post: r.clock, id: id}
	for i, m := range r.waiting {
		if p.matches(m) {
			r.waiting = append(r.waiting[:i], r.waiting[i+1:]...)
			s.match(m, p)
			return p
		}
	}
	r.posted = append(r.posted, p)
	return p
}

// match brings a message and its receive together.
func (s *simulation) match(m *message, p *receive) {
	m.recv, p.message = p, m
	if m.charge != nil {
		m.charge.late(p.post)
		m.charge.pending--
	}
	s.unblock(m.from)
	s.unblock(p.rank)
}

// probed returns the message that a probe finds.
func (s *simulation) probed(r *rank, o *op) *message {
	for _, m := range r.waiting {
		if o.recv.matches(m) {
			return m
		}
	}
	return nil
}

// received records the end of a receive and counts the message.
func (s *simulation) received(r *rank, p *receive, at int64, kind trace.Kind) {
	m := p.message
	r.master.p2p(trace.P2PRow{Time: at, Kind: kind, Peer: uint32(m.peer), Comm: m.comm, Tag: uint32(m.tag),
		Bytes: uint64(m.bytes), Request: p.id})
	if m.hidden {
		s.truth.UnmatchedReceives++
		return
	}
	s.truth.Messages++
	s.truth.Bytes += uint64(m.bytes)
}
