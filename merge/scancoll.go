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
	s.ended(row, partEnd{op: c.Op[i], comm: c.Comm[i], root: c.Root[i], sent: c.Sent[i], received: c.Received[i]})
}

// A partEnd is what the record of the end of a part says.
type partEnd struct {
	op             trace.CollectiveOp
	comm           trace.CommID
	root           uint32
	sent, received uint64
}

func (s *scanner) ended(row uint32, e partEnd) {
	s.out.bytes.add(e.sent)
	s.out.bytes.add(e.received)
	p := s.out.parts.Ptr(int(row))
	p.to, p.sent, p.received, p.root, p.op, p.done = s.now, e.sent, e.received, e.root, e.op, s.caller()
	if s.facts.resolver.usable(e.comm) && s.rank != trace.None {
		p.comm = e.comm
	} else {
		s.skip(trace.CodeUnknownCommunicator, "%s on communicator %d", p.op, e.comm)
	}
}

// window handles the collective event on a window of one-sided communication in row i of its table: OTF2's RmaCollectiveBegin, or
// RmaCollectiveEnd, of which one that makes no process wait ends no collective. A trace that defines no window does not say whose they are.
func (s *scanner) window(o *trace.Other, i int) {
	if len(s.facts.windows) == 0 {
		return
	}
	if o.Kind[i] == trace.KindRmaCollectiveBegin {
		s.begun = append(s.begun, s.begin(s.now))
		return
	}
	row, args := s.innermost(), o.Args[o.Offset[i]:o.Offset[i+1]]
	if len(args) < 6 || args[1]&trace.SyncsProcesses == 0 {
		return
	}
	op := trace.CollectiveOp(args[0])
	switch {
	case op == trace.CollBarrier:
		op = trace.CollFence
	case op.Pattern() == trace.PatternNone:
		op = trace.CollWindow
	}
	comm, known := s.facts.windows[args[2]]
	if !known {
		comm = trace.None
	}
	s.ended(row, partEnd{op: op, comm: comm, root: uint32(args[3]), sent: args[4], received: args[5]})
}
