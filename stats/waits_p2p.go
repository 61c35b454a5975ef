package stats

import (
	"context"

	"tracekit/trace"
)

// pointToPoint walks over the calls of all locations with the messages that they post and
// complete, and finds late senders, late receivers and messages in the wrong order. On its
// way it sums the messages. All locations advance together through windows of time, so
// that the rows of partners are still at hand.
func (w *waiting) pointToPoint(ctx context.Context) (*waitSums, error) {
	walks := make([]*p2pWalk, len(w.t.Calls)) // those under way
	return InWindows(ctx, w.t, w.jobs, w.newSums, func(s *waitSums, l int, end int64) {
		p := walks[l]
		if p == nil {
			p = w.newWalk(ctx, trace.LocationID(l))
			walks[l] = p
		}
		p.sums = s
		p.begin()
		p.until(end, p.call)
		s.msgs.endReceiver(p.l)
		if end == never {
			walks[l] = nil
			w.sync.seal(p.l)
		}
	}, (*waitSums).combine)
}

func (w *waiting) newWalk(ctx context.Context, l trace.LocationID) *p2pWalk {
	return &p2pWalk{waiting: w, callWalk: newCallWalk(ctx, w.t, l), sent: newInFlight()}
}

// begin sums what is sent and received before the first call: it is recorded outside any,
// and nobody waits for it.
func (p *p2pWalk) begin() {
	if p.begun {
		return
	}
	p.begun = true
	sent, before := p.sends.Len(), p.recvs.Len()
	if len(p.ahead) > 0 {
		sent, before = int(p.ahead[0].FirstSend), int(p.ahead[0].FirstRecv)
	}
	for k := range sent {
		if s := p.sends.Ptr(k); s.State != trace.Matched {
			p.sums.msgs.lostSend(p.l, s)
		}
	}
	p.lateSender(trace.None-1, &trace.Call{Class: trace.ClassTest}, before)
}

// A partnerWait is a wait for another rank's call, because of a message.
type partnerWait struct {
	time     int64
	location trace.LocationID
	call     uint32
	message  uint32 // as in CallWait
}

func (w partnerWait) callWait(kind WaitKind, c *trace.Call) CallWait {
	return CallWait{Time: w.time, From: c.Enter, Location: w.location, Call: w.call, Kind: kind, message: w.message}
}

func (p *p2pWalk) longer(a, b partnerWait) partnerWait {
	if b.time > a.time {
		return b
	}
	return a
}

// p2pWalk is the walk over one location's calls.
type p2pWalk struct {
	*waiting
	callWalk
	sums   *waitSums // of who visits the location now
	begun  bool
	window orderWindow
	needs  []callKey // the sends that the present call waits for
	sent   inFlight
	done   []uint32              // the sends that the present call completes
	batch  [messageBatch]receipt // that is looked up now
}

// call notes the longest wait of one call: for the latest sender or receiver, unless it
// is known to wait longer in a collective. A call that waits for a late sender is no late
// receiver; what it waits longer for a receiver is a wait state of its own.
func (p *p2pWalk) call(row int, c *trace.Call, end rowEnd) {
	i := uint32(row)
	p.needs = p.needs[:0]
	p.sync.begin(p.l, c)
	receiver := p.lateReceiver(i, c, end.send)
	sender, sent := p.lateSender(i, c, end.recv)
	if c.Class == trace.ClassProbe {
		sender, sent = p.probe(i, c)
	}
	p.sync.end(p.l, i, c, p.needs)
	wait := sender.callWait(LateSender, c)
	switch {
	case receiver.time <= sender.time:
	case sender.time == 0:
		wait = receiver.callWait(LateReceiver, c)
	default:
		wait = receiver.callWait(LateReceiverBehindLateSender, c)
		wait.SenderTime, wait.senderMessage = sender.time, sender.message
	}
	if wait.Time > 0 && p.calls[p.l].note(i, c, wait) && sender.time > 0 {
		p.window.push(lateInstance{wait: sender.time, sent: sent, source: p.t.Rank[sender.location], call: i})
	}
}

// messageBatch is the number of messages whose other ends are looked up together: these lie
// anywhere in memory, and looking up several at a time takes hardly longer than one.
const messageBatch = 8

// A receipt is a receive with what is known of its send.
type receipt struct {
	recv *trace.Recv
	send *trace.Send // nil: not matched
	post *trace.Call // that posts the send; nil: recorded outside any call
	sent int64       // when that call is entered
}

// lateSender returns the longest wait of call i for the send of a message that it
// completes, and when that message was sent.
func (p *p2pWalk) lateSender(i uint32, c *trace.Call, end int) (longest partnerWait, sent int64) {
	waits := c.Class != trace.ClassTest && c.Class != trace.ClassNone
	for first := int(c.FirstRecv); first < end; first += messageBatch {
		batch := p.receipts(first, min(end, first+messageBatch))
		for k := range batch {
			x := &batch[k]
			r, s := x.recv, x.send
			p.received(i, c, r)
			if s == nil {
				p.sums.msgs.lost(p.l, r)
				continue
			}
			m := message{from: r.SendLoc, to: p.l, bytes: s.Bytes, posted: [2]int64{x.sent, x.sent}, taken: [2]int64{r.Time, r.Time}}
			paths := pathPair{trace.None, trace.None}
			if x.post != nil {
				m.posted[1], paths.send = x.post.Leave, x.post.Path
			}
			if r.Call == i {
				m.taken = [2]int64{c.Enter, c.Leave}
				p.need(r.SendLoc, s.Call)
			}
			if r.Call != trace.None {
				paths.recv = c.Path
			}
			row := uint32(first + k)
			p.messages.join(&p.sums.met, p.l, row, paths)
			p.sums.msgs.add(&m)
			p.window.arrive(p, p.t.Rank[r.SendLoc], s.Time)
			if w := min(x.sent, c.Leave) - c.Enter; waits && r.Call == i && w > longest.time {
				longest, sent = partnerWait{w, r.SendLoc, s.Call, row}, s.Time
			}
		}
	}
	return longest, sent
}

// carries adds the bytes of a message to call i, which posts or completes it.
func (p *p2pWalk) carries(i uint32, c *trace.Call, bytes uint64, r role) {
	p.addBytes(p.sums, p.l, c, bytes)
	p.addSize(p.l, i, bytes, r)
}

// received adds the bytes of a receive to call i, which completes it, and to the call that
// posted it. MPI_Sendrecv has those that it sends, unless it only receives.
func (p *p2pWalk) received(i uint32, c *trace.Call, r *trace.Recv) {
	switch {
	case r.Call != i:
	case c.Class != trace.ClassSendrecv:
		p.carries(i, c, r.Bytes, roleReceives)
	case p.sizes != nil:
		bytes := r.Bytes
		if p.sizes[p.l].Ptr(int(i)).role()&roleSends != 0 {
			bytes = 0
		}
		p.addSize(p.l, i, bytes, roleReceives)
	}
	if r.Post != r.Call && r.Post != trace.None {
		p.addSize(p.l, r.Post, r.Bytes, roleReceives)
	}
}

// receipts looks up at most messageBatch receives, from row first to row end. They are
// valid until the next call.
func (p *p2pWalk) receipts(first, end int) []receipt {
	out := p.batch[:end-first]
	for k := range out {
		x := &out[k]
		x.recv, x.send, x.post = p.recvs.Ptr(first+k), nil, nil
		if x.recv.State == trace.Matched {
			x.send = p.t.Sends[x.recv.SendLoc].Ptr(int(x.recv.Send))
		}
	}
	for k := range out {
		if x := &out[k]; x.send != nil && x.send.Call != trace.None {
			x.post = p.t.Calls[x.recv.SendLoc].Ptr(int(x.send.Call))
		}
	}
	for k := range out {
		if x := &out[k]; x.post != nil {
			x.sent = x.post.Enter
		} else if x.send != nil {
			x.sent = x.send.Time
		}
	}
	return out
}

// enterOf returns when a call is entered or, for what is recorded outside any call, the time
// of its record.
func (p *p2pWalk) enterOf(l trace.LocationID, call uint32, at int64) int64 {
	if call == trace.None {
		return at
	}
	return p.t.Calls[l].Ptr(int(call)).Enter
}

// probe returns how long a blocking probe waits for its message: that of the first
// receive that is posted after it, unless another probe comes before.
func (p *p2pWalk) probe(i uint32, c *trace.Call) (wait partnerWait, sent int64) {
	r, ok := p.probed(i)
	if !ok || r.State != trace.Matched {
		return partnerWait{}, 0
	}
	s := p.t.Sends[r.SendLoc].Ptr(int(r.Send))
	posted := p.enterOf(r.SendLoc, s.Call, s.Time)
	return partnerWait{max(0, min(posted, c.Leave)-c.Enter), r.SendLoc, s.Call, trace.None}, s.Time
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

// need notes that the present call completes a message which another call sends.
func (p *p2pWalk) need(l trace.LocationID, call uint32) {
	if call != trace.None {
		p.needs = append(p.needs, callKey{l, call})
	}
}

// blockedSend returns how long blocking send k, which is call c, waits for the receive to be
// posted.
func (p *p2pWalk) blockedSend(k int, s *trace.Send, c *trace.Call) partnerWait {
	r := p.t.Recvs[s.RecvLoc].Ptr(int(s.Recv))
	posted := p.enterOf(s.RecvLoc, r.Post, r.Time)
	if posted <= c.Enter || posted >= c.Leave {
		return partnerWait{}
	}
	return partnerWait{posted - c.Enter, s.RecvLoc, r.Post, uint32(k)}
}

// lateReceiver returns the longest wait of call i, which completes sends, for the posting of
// one of their receives. The sends of call i that a later call completes are kept until
// that is met.
func (p *p2pWalk) lateReceiver(i uint32, c *trace.Call, end int) (longest partnerWait) {
	done := append(p.done[:0], p.sent.take(i)...)
	for _, k := range done {
		p.carries(i, c, p.sends.Ptr(int(k)).Bytes, roleSends)
	}
	for k := int(c.FirstSend); k < end; k++ {
		s := p.sends.Ptr(k)
		if s.State != trace.Matched {
			p.sums.msgs.lostSend(p.l, s)
		}
		if s.Call == i {
			p.carries(i, c, s.Bytes, roleSends)
		}
		switch {
		case s.Done == trace.None:
		case s.Done == i && c.Class == trace.ClassSend:
			if s.State == trace.Matched {
				longest = p.longer(longest, p.blockedSend(k, s, c))
			}
		case s.Done == i:
			done = append(done, uint32(k))
		default:
			p.sent.add(s.Done, uint32(k))
		}
	}
	p.done = done
	if c.Class != trace.ClassWait { // only MPI_Wait… does (and MPI_Send and MPI_Ssend)
		return longest
	}
	for ; len(done) > 0; done = done[min(len(done), messageBatch):] {
		longest = p.longer(longest, p.posting(c, done[:min(len(done), messageBatch)]))
	}
	return longest
}

// A sending is a send with what is known of its receive.
type sending struct {
	row, recv uint32
	location  trace.LocationID // of the receive
	time      int64            // of its record
	post      uint32           // the call that posts it
}

// posting returns the longest wait of call c for the posting of the receives of sends, at
// most messageBatch, that it completes.
func (p *p2pWalk) posting(c *trace.Call, sends []uint32) (longest partnerWait) {
	var batch [messageBatch]sending
	n := 0
	for _, k := range sends {
		if s := p.sends.Ptr(int(k)); s.State == trace.Matched {
			batch[n] = sending{row: k, recv: s.Recv, location: s.RecvLoc}
			n++
		}
	}
	for k := range batch[:n] {
		x := &batch[k]
		r := p.t.Recvs[x.location].Ptr(int(x.recv))
		x.time, x.post = r.Time, r.Post
	}
	for _, x := range batch[:n] {
		if x.time <= c.Enter { // a receive is completed after it was posted
			continue
		}
		posted := p.enterOf(x.location, x.post, x.time)
		if w := posted - c.Enter; posted < c.Leave && w > longest.time {
			longest = partnerWait{w, x.location, x.post, x.row}
		}
	}
	return longest
}
