package samples

import (
	"fmt"

	"tracekit/trace"
)

// A call is an MPI call that a rank is in.
type call struct {
	op    *op
	enter int64
	send  *message // of a blocking send
	recv  *receive // of a blocking receive
	part  *part    // of a blocking collective
	made  uint64   // records of the master that were paid for when it began
}

// A request is what a non-blocking call started: one of the three.
type request struct {
	id   uint64
	send *message
	recv *receive
	part *part
	coll collective
}

// startCall enters an MPI function and does what happens at once.
func (s *simulation) startCall(r *rank, o *op) {
	s.settle(r, false)
	made := r.master.made()
	if !o.hidden {
		made += o.departure()
	}
	r.clock += s.record * int64(made-r.master.made())
	c := &call{op: o, enter: r.clock, made: made}
	r.call = c
	if !o.hidden {
		r.master.enter(c.enter, o.region)
	}
	switch o.kind {
	case opSend, opSsend, opBsend:
		c.send = s.post(r, o, 0)
	case opRecv:
		c.recv = s.receive(r, o, 0)
	case opSendrecv:
		c.send, c.recv = s.post(r, o, 0), s.receive(r, o, 0)
	case opIsend:
		id := r.newID()
		r.requests[o.req] = &request{id: id, send: s.post(r, o, id)}
	case opIrecv:
		id := r.newID()
		r.master.request(c.enter+recordCost, trace.KindMpiIrecvRequest, id)
		r.requests[o.req] = &request{id: id, recv: s.receive(r, o, id)}
	case opColl:
		if o.coll.op < initOp {
			r.master.coll(trace.CollRow{Time: c.enter + recordCost, Kind: trace.KindCollectiveBegin, Comm: trace.None, Root: trace.RootNone})
		}
		p := s.arrive(r, o, true)
		c.part = &p
	case opIcoll:
		id := r.newID()
		r.master.coll(trace.CollRow{Time: c.enter + recordCost, Kind: trace.KindNonBlockingCollectiveRequest,
			Comm: trace.None, Root: trace.RootNone, Request: id})
		p := s.arrive(r, o, false)
		r.requests[o.req] = &request{id: id, part: &p, coll: o.coll}
	}
	r.blocked = !s.complete(r)
}

// departure returns how many records a call has until its message leaves, its receive is posted or its collective begins.
func (o *op) departure() uint64 {
	switch o.kind {
	case opSend, opSsend, opBsend, opSendrecv, opIsend, opIrecv, opIcoll:
		return 2
	case opColl:
		if o.coll.op < initOp {
			return 2
		}
	}
	return 1
}

func (r *rank) newID() uint64 { r.nextID++; return r.nextID }

// complete ends the call of a rank, if what it waits for is known, and reports whether.
func (s *simulation) complete(r *rank) bool {
	c := r.call
	end, charged := int64(0), newCharge(c)
	switch c.op.kind {
	case opIsend:
		end = c.enter + sendCost
	case opIrecv, opIcoll:
		end = c.enter + callCost
	case opProbe:
		m := s.probed(r, c.op)
		if m == nil {
			return false
		}
		end = max(c.enter, m.announced()) + callCost
		charged.message(m, end)
	case opCancel:
		end = c.enter + callCost
		s.cancel(r, c, end)
	case opTest:
		end = c.enter + callCost
		s.test(r, c, end, charged)
	case opWait, opWaitany:
		var known bool
		if end, known = s.wait(r, c, charged); !known {
			return false
		}
	default:
		var known bool
		if end, known = s.blocking(r, c, charged); !known {
			return false
		}
	}
	s.leaveCall(r, c, end, charged)
	return true
}

// leaveCall leaves the MPI function.
func (s *simulation) leaveCall(r *rank, c *call, end int64, charged *charge) {
	if !c.op.hidden {
		end += s.record * int64(r.master.made()+1-c.made)
	}
	r.clock, r.call = end, nil
	r.pc++
	if c.op.hidden {
		return
	}
	r.master.leave(end, c.op.region)
	r.mpi += end - c.enter
	charged.leave = end
	if charged.relevant() {
		r.charges = append(r.charges, charged)
	}
}

// blocking returns the end of a blocking send, receive or collective.
func (s *simulation) blocking(r *rank, c *call, charged *charge) (int64, bool) {
	end := c.enter
	if c.send != nil {
		t, known := c.send.done()
		if !known {
			return 0, false
		}
		end = max(end, t)
	}
	if c.recv != nil {
		t, known := c.recv.done()
		if !known {
			return 0, false
		}
		end = max(end, t+recvCost)
	}
	if c.part != nil {
		t, known := c.part.end()
		if !known {
			return 0, false
		}
		if end = t; c.op.coll.op < initOp {
			r.master.coll(collRow(end-recordCost, trace.KindCollectiveEnd, c.op.coll, 0))
		}
	}
	if c.recv != nil {
		s.received(r, c.recv, end-recordCost, trace.KindMpiRecv)
		charged.received(c.recv, end)
	}
	if c.send != nil && (c.op.kind == opSend || c.op.kind == opSsend) {
		charged.sent(c.send, end)
	}
	return end, true
}

// wait returns the end of a Wait. Requests that an earlier call completed are null now,
// and waiting for them takes no time.
func (s *simulation) wait(r *rank, c *call, charged *charge) (int64, bool) {
	var open []int32
	for _, n := range c.op.reqs {
		if r.requests[n] != nil {
			open = append(open, n)
		}
	}
	end, first := c.enter, -1
	for i, n := range open {
		t, known := requestDone(r.requests[n])
		switch {
		case c.op.kind == opWaitany && known && (first < 0 || t < end):
			end, first = t, i
		case c.op.kind == opWait && !known:
			return 0, false
		case c.op.kind == opWait:
			end = max(end, t)
		}
	}
	if c.op.kind == opWaitany && len(open) > 0 {
		if first < 0 {
			return 0, false
		}
		open = open[first : first+1]
	}
	end = max(end, c.enter) + recvCost
	for _, n := range open {
		s.completeRequest(r, n, end, charged)
	}
	return end, true
}

// requestDone returns when a request is complete, if that is known.
func requestDone(q *request) (int64, bool) {
	switch {
	case q.send != nil:
		return q.send.done()
	case q.recv != nil:
		return q.recv.done()
	}
	return q.part.end()
}

// completeRequest records that a call that ends at end completes a request.
func (s *simulation) completeRequest(r *rank, n int32, end int64, charged *charge) {
	q := r.requests[n]
	delete(r.requests, n)
	switch at := end - recordCost; {
	case q.send != nil:
		r.master.request(at, trace.KindMpiIsendComplete, q.id)
		charged.sent(q.send, end)
	case q.recv != nil && q.recv.cancelled:
		r.master.request(at, trace.KindMpiRequestCancelled, q.id)
		s.truth.Cancelled++
	case q.recv != nil:
		s.received(r, q.recv, at, trace.KindMpiIrecv)
		charged.received(q.recv, end)
	default:
		r.master.coll(collRow(at, trace.KindNonBlockingCollectiveComplete, q.coll, q.id))
		charged.collective(q.part, end, &s.truth.Waits)
	}
}

// test completes the request of an MPI_Test if it is complete when the call begins.
func (s *simulation) test(r *rank, c *call, end int64, charged *charge) {
	n := c.op.reqs[0]
	q := r.requests[n]
	if q == nil {
		return
	}
	if t, known := requestDone(q); known && t <= c.enter {
		s.completeRequest(r, n, end, charged)
		return
	}
	r.master.request(end-recordCost, trace.KindMpiRequestTest, q.id)
}

// cancel takes back a receive that has no message yet. The wait for it completes it.
func (s *simulation) cancel(r *rank, c *call, end int64) {
	q := r.requests[c.op.reqs[0]]
	if q == nil || q.recv == nil || q.recv.message != nil {
		return
	}
	for i, p := range r.posted {
		if p == q.recv {
			r.posted = append(r.posted[:i], r.posted[i+1:]...)
			q.recv.cancelled, q.recv.cancelTime = true, end
			return
		}
	}
	panic(fmt.Sprintf("samples: rank %d cancels a receive that is not posted", r.id))
}
