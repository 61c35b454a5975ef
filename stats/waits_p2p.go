package stats

import (
	"context"

	"tracekit/trace"
)

// pointToPoint walks over the calls of all locations with the messages that they post and
// complete, and finds late senders, late receivers and messages in the wrong order. On its
// way it sums the messages. All locations advance together through windows of time, so
// that the rows of partners are still at hand.
func (w *waiting) pointToPoint(ctx context.Context) error {
	walks := make([]*p2pWalk, len(w.t.Calls))
	for l := range walks {
		walks[l] = w.newWalk(trace.LocationID(l))
	}
	return inWindows(ctx, w.t, func(end int64) {
		for _, walk := range walks {
			walk.until(end, walk.call)
			walk.msgs.endReceiver(walk.l)
		}
	})
}

func (w *waiting) newWalk(l trace.LocationID) *p2pWalk {
	p := &p2pWalk{waiting: w, callWalk: newCallWalk(w.t, l), pending: make(map[uint32]partnerWait)}
	p.window.sum = &w.wrong
	before := w.t.Recvs[l].Len()
	if p.length > 0 {
		before = int(p.at.FirstRecv)
	}
	// What is received before the first call is recorded outside any: nobody waits for it.
	p.lateSender(trace.None-1, &trace.Call{Class: trace.ClassTest}, before)
	p.msgs.endReceiver(l)
	return p
}

// A partnerWait is a wait for another rank's call.
type partnerWait struct {
	time     int64
	location trace.LocationID
	call     uint32
}

// p2pWalk is the walk over one location's calls.
type p2pWalk struct {
	*waiting
	callWalk
	last    trace.Call             // the call that completion returned last
	lastRow uint32                 // its row + 1; 0: none
	pending map[uint32]partnerWait // late receiver of sends in flight, by the call that completes them
	window  orderWindow
}

// call notes the longest wait of one call: for the latest sender or receiver, unless it
// is known to wait longer in a collective.
func (p *p2pWalk) call(row int, c *trace.Call, end rowEnd) {
	i := uint32(row)
	p.sync.begin(p.l, c)
	receiver := p.lateReceiver(i, c, end.send)
	sender, sent := p.lateSender(i, c, end.recv)
	if c.Class == trace.ClassProbe {
		sender, sent = p.probe(i, c)
	}
	p.sync.end(p.l, i, c)
	kind, wait := LateSender, sender
	if receiver.time > sender.time {
		kind, wait = LateReceiver, receiver
	}
	if wait.time > 0 && p.calls[p.l].note(i, c, CallWait{Time: wait.time, Location: wait.location, Call: wait.call, Kind: kind}) && kind == LateSender {
		p.window.push(lateInstance{wait: wait.time, sent: sent, source: p.t.Rank[wait.location], call: i})
	}
}

// lateSender returns the longest wait of call i for the send of a message that it
// completes, and when that message was sent.
func (p *p2pWalk) lateSender(i uint32, c *trace.Call, end int) (longest partnerWait, sent int64) {
	waits := c.Class != trace.ClassTest
	for k := int(c.FirstRecv); k < end; k++ {
		r := p.t.Recvs[p.l].At(k)
		if r.Call == i && c.Class != trace.ClassSendrecv {
			p.addBytes(p.l, i, c, r.Bytes)
		}
		if r.State != trace.Matched {
			p.msgs.lost(p.l, &r)
			continue
		}
		s := p.t.Sends[r.SendLoc].At(int(r.Send))
		post := p.callOr(r.SendLoc, s.Call, s.Time)
		take := c
		if r.Call == i {
			p.sync.need(r.SendLoc, s.Call)
		} else {
			take = &trace.Call{Enter: r.Time, Leave: r.Time}
		}
		p.msgs.add(r.SendLoc, p.l, &s, &post, take)
		p.window.arrive(p.waiting, p.l, p.t.Rank[r.SendLoc], s.Time)
		if post.Class == trace.ClassSend && s.Done == s.Call {
			p.blockedSend(i, c, &r, s.Call, &post)
		}
		if w := min(post.Enter, c.Leave) - c.Enter; waits && r.Call == i && w > longest.time {
			longest, sent = partnerWait{w, r.SendLoc, s.Call}, s.Time
		}
	}
	return longest, sent
}

// callOr returns a call or, for what is recorded outside any call, a call of no length.
func (p *p2pWalk) callOr(l trace.LocationID, call uint32, at int64) trace.Call {
	if call == trace.None {
		return trace.Call{Enter: at, Leave: at}
	}
	return p.t.Calls[l].At(int(call))
}

// enterOf returns when such a call is entered.
func (p *p2pWalk) enterOf(l trace.LocationID, call uint32, at int64) int64 {
	if call == trace.None {
		return at
	}
	return p.t.Calls[l].Ref(int(call)).Enter
}

// probe returns how long a blocking probe waits for its message: that of the first
// receive that is posted after it, unless another probe comes before.
func (p *p2pWalk) probe(i uint32, c *trace.Call) (wait partnerWait, sent int64) {
	r, ok := p.probed(i)
	if !ok || r.State != trace.Matched {
		return partnerWait{}, 0
	}
	s := p.t.Sends[r.SendLoc].At(int(r.Send))
	post := p.callOr(r.SendLoc, s.Call, s.Time)
	return partnerWait{max(0, min(post.Enter, c.Leave)-c.Enter), r.SendLoc, s.Call}, s.Time
}

// probeReach is how many receives may complete between a probe and the completion of a
// non-blocking receive of the probed message.
const probeReach = 1000

// probed returns the receive of the message that probe i found.
func (p *p2pWalk) probed(i uint32) (trace.Recv, bool) {
	calls, recvs := p.t.Calls[p.l], p.t.Recvs[p.l]
	for k := int(i) + 1; k < calls.Len(); k++ {
		next := calls.At(k)
		switch next.Class {
		case trace.ClassProbe:
			return trace.Recv{}, false
		case trace.ClassRecv, trace.ClassSendrecv, trace.ClassIrecv, trace.ClassStart:
		default:
			continue
		}
		first := int(next.FirstRecv)
		for n := first; n < min(recvs.Len(), first+probeReach); n++ {
			if r := recvs.At(n); r.Post == uint32(k) {
				return r, true
			}
		}
	}
	return trace.Recv{}, false
}

// blockedSend notes how long a blocking send, whose receive call i completes, waits for
// the receive to be posted.
func (p *p2pWalk) blockedSend(i uint32, c *trace.Call, r *trace.Recv, row uint32, send *trace.Call) {
	posted := c.Enter
	if r.Post != i {
		posted = p.enterOf(p.l, r.Post, r.Time)
	}
	if wait := posted - send.Enter; wait > 0 && posted < send.Leave {
		p.calls[r.SendLoc].note(row, send, CallWait{Time: wait, Location: p.l, Call: r.Post, Kind: LateReceiver})
	}
}

// lateReceiver returns the longest wait of call i, which completes non-blocking sends, for
// the posting of one of their receives. (Blocking sends are seen to where the message is
// received.) The waits of later calls for what call i sends are remembered until they are
// met.
func (p *p2pWalk) lateReceiver(i uint32, c *trace.Call, end int) partnerWait {
	for k := int(c.FirstSend); k < end; k++ {
		s := p.t.Sends[p.l].At(k)
		if s.Call == i {
			p.addBytes(p.l, i, c, s.Bytes)
		}
		if s.Done == trace.None || s.Done == i && c.Class == trace.ClassSend {
			continue
		}
		done := c
		if s.Done != i {
			done = p.completion(s.Done)
			p.addBytes(p.l, s.Done, done, s.Bytes)
		}
		if s.State != trace.Matched {
			continue
		}
		if w := p.waitForReceiver(&s, done); w.time > p.pending[s.Done].time {
			p.pending[s.Done] = w
		}
	}
	if len(p.pending) == 0 {
		return partnerWait{}
	}
	w := p.pending[i]
	delete(p.pending, i)
	return w
}

// completion returns a call that completes sends. Several sends in a row often have the
// same one.
func (p *p2pWalk) completion(row uint32) *trace.Call {
	if p.lastRow != row+1 {
		p.last, p.lastRow = p.t.Calls[p.l].At(int(row)), row+1
	}
	return &p.last
}

// waitForReceiver returns how long the call that completes a non-blocking send waits for
// the receive to be posted. Only MPI_Wait… does (and MPI_Send and MPI_Ssend).
func (p *p2pWalk) waitForReceiver(s *trace.Send, done *trace.Call) partnerWait {
	if done.Class != trace.ClassWait {
		return partnerWait{}
	}
	r := p.t.Recvs[s.RecvLoc].Ref(int(s.Recv))
	if r.Time <= done.Enter { // a receive is completed after it was posted
		return partnerWait{}
	}
	post := r.Post
	posted := p.enterOf(s.RecvLoc, post, r.Time)
	if done.Leave <= posted {
		return partnerWait{}
	}
	return partnerWait{posted - done.Enter, s.RecvLoc, post}
}
