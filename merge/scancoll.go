package merge

import "tracekit/trace"

// A part is one location's part in a collective. Parts of a location are in order of
// their begin, which is the order in which a communicator counts its collectives.
type part struct {
	from, to       int64  // as Begin and End of trace.Member
	begin          uint64 // sequence number of the record that began it
	sent, received uint64
	comm           trace.CommID // None: never ended, or not usable
	root           uint32
	call           uint32 // that began it
	done           uint32 // that ended it
	pauses         uint32 // times that recording was switched off before it
	collective     uint32 // row of the instance; None: not joined
	member         uint32 // row in Members
	op             trace.CollectiveOp
}

// coll handles the collective event in row i of its table.
func (s *scanner) coll(c *trace.Coll, i int) {
	switch c.Kind[i] {
	case trace.KindCollectiveBegin:
		s.begun = append(s.begun, s.begin(s.now))
	case trace.KindCollectiveEnd:
		s.end(c, i, s.innermost())
	case trace.KindNonBlockingCollectiveRequest:
		part := s.begin(s.posting())
		s.start(c.Request[i], collRequest).row = part
	case trace.KindNonBlockingCollectiveComplete:
		r, ok := s.requests.take(c.Request[i], collRequest)
		if !ok {
			s.note(trace.CodeUnknownRequest, s.seq, "NonBlockingCollectiveComplete of request %d", c.Request[i])
			r.row = s.begin(s.now)
		}
		s.end(c, i, r.row)
	}
}

// posting returns when the call that starts a non-blocking operation was entered, or the time of
// the event if no call of MPI is open. Parts stay in order of time.
func (s *scanner) posting() int64 {
	if s.open < 0 {
		return s.now
	}
	return max(s.call.Enter, s.lastPart)
}

// begin adds a part of which only the beginning, at time t, is known, and returns its row.
func (s *scanner) begin(t int64) uint32 {
	s.lastPart = t
	p := s.out.parts.Next()
	p.from, p.to, p.begin, p.comm, p.root, p.call = t, t, s.seq, trace.None, trace.None, s.caller()
	p.done, p.pauses, p.collective = trace.None, s.out.pauses, trace.None
	s.out.stray = s.out.stray || p.call == trace.None
	return uint32(s.out.parts.Len() - 1)
}

// innermost returns the blocking collective that ends now; one whose begin was not
// recorded begins where it ends.
func (s *scanner) innermost() uint32 {
	n := len(s.begun) - 1
	if n < 0 {
		return s.begin(s.now)
	}
	row := s.begun[n]
	s.begun = s.begun[:n]
	return row
}

// end completes the part in a row with what the record in row i of the batch says.
func (s *scanner) end(c *trace.Coll, i int, row uint32) {
	s.out.bytes.add(c.Sent[i])
	s.out.bytes.add(c.Received[i])
	p := s.out.parts.Ptr(int(row))
	p.to, p.sent, p.received, p.root, p.op, p.done = s.now, c.Sent[i], c.Received[i], c.Root[i], c.Op[i], s.caller()
	if comm := c.Comm[i]; s.facts.resolver.usable(comm) && s.rank != trace.None {
		p.comm = comm
	} else {
		s.skip(trace.CodeUnknownCommunicator, "%s on communicator %d", p.op, comm)
	}
}
