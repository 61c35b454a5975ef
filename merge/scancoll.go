package merge

import "tracekit/trace"

// A part is one location's part in a collective. Parts of a location are in order of
// their begin, which is the order in which a communicator counts its collectives.
type part struct {
	from, to       int64  // as Begin and End of trace.Member
	begin          uint64 // sequence number of the record that began it
	sent, received uint64
	comm           trace.CommID // None: never ended
	root           uint32
	call           uint32 // that began it
	done           uint32 // that ended it
	pauses         uint32 // times that recording was switched off before it
	collective     uint32 // row of the instance; None: not joined
	member         uint32 // row in Members
	op             trace.CollectiveOp
}

// coll handles the collective event in row i of its table.
func (s *scanner) coll(c *trace.Coll, i int, seq uint64, t int64) {
	switch c.Kind[i] {
	case trace.KindCollectiveBegin:
		s.begun = append(s.begun, s.begin(seq, t))
	case trace.KindCollectiveEnd:
		s.end(c, i, seq, t, s.innermost(seq, t))
	case trace.KindNonBlockingCollectiveRequest:
		r := s.begin(seq, s.posting(t))
		r.id = c.Request[i]
		*s.start(seq, r.id, collRequest) = r
	case trace.KindNonBlockingCollectiveComplete:
		r, ok := s.requests.take(c.Request[i], collRequest)
		if !ok {
			s.note(trace.CodeUnknownRequest, seq, "NonBlockingCollectiveComplete of request %d", c.Request[i])
			r = s.begin(seq, t)
		}
		s.end(c, i, seq, t, r)
	}
}

// posting returns when the call that starts a non-blocking operation was entered, or t if
// no call of MPI is open. Parts stay in order of time.
func (s *scanner) posting(t int64) int64 {
	if s.open < 0 {
		return t
	}
	return max(s.stack.At(s.open).time, s.lastPart)
}

// begin adds a part of which only the beginning is known.
func (s *scanner) begin(seq uint64, t int64) request {
	s.lastPart = t
	p := part{
		from: t, to: t, begin: seq, comm: trace.None, root: trace.None, call: s.caller(seq),
		done: trace.None, pauses: s.out.pauses, collective: trace.None,
	}
	s.out.stray = s.out.stray || p.call == trace.None
	row := uint32(s.out.parts.Append(p))
	return request{seq: seq, row: row, call: p.call, pauses: s.out.pauses, kind: collRequest}
}

// innermost returns the blocking collective that ends now; one whose begin was not
// recorded begins where it ends.
func (s *scanner) innermost(seq uint64, t int64) request {
	n := len(s.begun) - 1
	if n < 0 {
		return s.begin(seq, t)
	}
	r := s.begun[n]
	s.begun = s.begun[:n]
	return r
}

// end completes a part with what the record in row i of the batch says.
func (s *scanner) end(c *trace.Coll, i int, seq uint64, t int64, r request) {
	s.out.bytes.add(c.Sent[i])
	s.out.bytes.add(c.Received[i])
	p := part{
		from: s.out.parts.Ptr(int(r.row)).from, to: t, begin: r.seq, sent: c.Sent[i], received: c.Received[i], comm: c.Comm[i], root: c.Root[i],
		call: r.call, done: s.caller(seq), pauses: r.pauses,
		collective: trace.None, op: c.Op[i],
	}
	if !s.facts.resolver.usable(p.comm) || s.rank == trace.None {
		s.skip(trace.CodeUnknownCommunicator, seq, "%s on communicator %d", p.op, p.comm)
		p.comm = trace.None
	}
	s.out.parts.Set(int(r.row), p)
}
