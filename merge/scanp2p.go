package merge

import "tracekit/trace"

// p2p handles the point-to-point event in row i of its table. What events mean and where
// they stand in the calls is described with OTF2's event records.
func (s *scanner) p2p(p *trace.P2P, i int) {
	switch p.Kind[i] {
	case trace.KindMpiSend:
		s.send(p, i)
	case trace.KindMpiIsend:
		s.send(p, i).Done = trace.None
		s.start(p.Request[i], sendRequest).row = uint32(s.out.sends.Len() - 1)
	case trace.KindMpiIsendComplete:
		s.complete(p.Request[i])
	case trace.KindMpiIrecvRequest:
		s.start(p.Request[i], recvRequest).row = s.caller()
	case trace.KindMpiRecv:
		r := s.recv(p, i)
		s.posted(r, s.seq, r.Call)
	case trace.KindMpiIrecv:
		post, ok := s.requests.take(p.Request[i], recvRequest)
		if !ok {
			s.note(trace.CodeUnknownRequest, s.seq, "MpiIrecv completes request %d", p.Request[i])
			post = request{seq: s.seq, row: trace.None}
		}
		s.posted(s.recv(p, i), post.seq, post.row)
	case trace.KindMpiRequestTest:
		if s.requests.kind(p.Request[i]) == noRequest {
			s.skip(trace.CodeUnknownRequest, "MpiRequestTest of request %d", p.Request[i])
		}
	case trace.KindMpiRequestCancelled:
		s.cancel(p.Request[i])
	}
}

// send adds what the send record in row i says, as a send that its call completes.
func (s *scanner) send(p *trace.P2P, i int) *trace.Send {
	bytes, comm, tag := p.Bytes[i], p.Comm[i], p.Tag[i]
	call := s.caller()
	to, state := s.facts.resolver.member(comm, s.rank, p.Peer[i]), trace.Unmatched
	if to == trace.None {
		to, state = s.peer(p, i)
	}
	s.out.bytes.add(bytes)
	r := s.out.sends.Next()
	r.Event, r.Time, r.Bytes, r.Comm, r.Tag = trace.EventAt(s.seq), s.now, bytes, comm, tag
	r.Call, r.Done, r.RecvLoc, r.Recv, r.State = call, call, trace.LocationID(to), trace.None, state
	return r
}

// recv adds what the receive record in row i says; who posted it is left to fill in.
func (s *scanner) recv(p *trace.P2P, i int) *trace.Recv {
	bytes, comm, tag := p.Bytes[i], p.Comm[i], p.Tag[i]
	call := s.caller()
	from, state := s.facts.resolver.member(comm, s.rank, p.Peer[i]), trace.Unmatched
	if from == trace.None {
		from, state = s.peer(p, i)
	}
	s.out.bytes.add(bytes)
	r := s.out.recvs.Next()
	r.Event, r.Time, r.Bytes, r.Comm, r.Tag = trace.EventAt(s.seq), s.now, bytes, comm, tag
	r.Call, r.SendLoc, r.Send, r.State = call, trace.LocationID(from), trace.None, state
	return r
}

// posted says which record and which call posted a receive, and notes whether receives complete
// in the order in which they were posted.
func (s *scanner) posted(r *trace.Recv, seq uint64, call uint32) {
	r.PostSeq, r.Post = seq, call
	s.out.disorder = s.out.disorder || seq < s.out.posted
	s.out.posted = seq
}

// peer returns the world rank of the process that the record in row i names, and what that means
// for its message.
func (s *scanner) peer(p *trace.P2P, i int) (uint32, trace.MessageState) {
	world, code := s.facts.resolver.peer(p.Comm[i], s.rank, p.Peer[i])
	if code != "" {
		s.skip(code, "%s names rank %d of communicator %d", p.Kind[i], p.Peer[i], p.Comm[i])
		return trace.None, trace.Unusable
	}
	return world, trace.Unmatched
}

// start opens a request. One of the same identifier that is still open will never be
// completed.
func (s *scanner) start(id uint64, kind requestKind) *request {
	r := s.requests.open(id)
	if r.kind != noRequest {
		s.note(trace.CodeOpenRequest, r.seq, "request %d is started again", id)
	}
	r.id, r.seq, r.kind = id, s.seq, kind
	return r
}

func (s *scanner) complete(id uint64) {
	r, ok := s.requests.take(id, sendRequest)
	if !ok {
		s.skip(trace.CodeUnknownRequest, "MpiIsendComplete of request %d", id)
		return
	}
	call := s.caller()
	s.out.sends.Ptr(int(r.row)).Done = call
}

// cancel ends a request without a message. A cancelled receive gets a row without a
// sender, so that it can be counted.
func (s *scanner) cancel(id uint64) {
	if r, ok := s.requests.take(id, sendRequest); ok {
		s.out.sends.Ptr(int(r.row)).State = trace.Cancelled
		return
	}
	r, ok := s.requests.take(id, recvRequest)
	if !ok {
		s.skip(trace.CodeUnknownRequest, "MpiRequestCancelled of request %d", id)
		return
	}
	s.out.recvs.Append(trace.Recv{
		Event: trace.EventAt(s.seq), PostSeq: r.seq, Time: s.now, Comm: trace.None,
		Call: s.caller(), Post: r.row, SendLoc: trace.None, Send: trace.None, State: trace.Cancelled,
	})
}
