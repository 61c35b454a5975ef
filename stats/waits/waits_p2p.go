package waits

import (
	"context"

	"tracekit/document/waitstate"
	"tracekit/spill"
	"tracekit/stats/numbers"
	"tracekit/trace"
)

// pointToPoint walks over the calls of all locations with the messages that they post and
// complete, and finds late senders, late receivers and messages in the wrong order. On its
// way it sums the messages, and takes what collectives say of their members. All locations
// advance together through windows of time, so that the rows of partners are still at hand.
func (w *Finder) pointToPoint(ctx context.Context) (*WaitSums, error) {
	walks := make([]*p2pWalk, len(w.T.Calls)) // those under way
	w.lacking = make([]bool, len(w.T.Calls))
	return InWindows(ctx, w.T, w.Jobs, w.NewSums, func(s *WaitSums, l int, end int64) {
		p := walks[l]
		if p == nil {
			p = w.newWalk(ctx, trace.LocationID(l))
			walks[l] = p
		}
		p.sums = s
		p.begin()
		for p.Advance(end) {
			p.calls()
		}
		s.Msgs.endReceiver(p.L)
		if end == numbers.Never {
			walks[l], w.lacking[l] = nil, p.lacks
			w.Sync.seal(p.L)
			w.Messages.seal(p.L)
		}
	}, (*WaitSums).Combine)
}

func (w *Finder) newWalk(ctx context.Context, l trace.LocationID) *p2pWalk {
	p := &p2pWalk{Finder: w, CallWalk: NewCallWalk(ctx, w.T, l), waits: w.Calls[l]}
	if w.Sync != nil {
		w.Sync.begin(l, p.rows.Len())
		p.clocks, p.needs = w.Sync.Clocks[l], w.Sync.Needs[l]
	}
	if w.Sizes != nil {
		p.sizes = w.Sizes[l]
		p.others = p.sizes.Cursor()
	}
	if w.Messages != nil {
		p.pairs = w.Messages.Recvs[l].Cursor()
	}
	p.nextPart()
	return p
}

// begin sums what is sent and received before the first call: it is recorded outside any,
// and nobody waits for it.
func (p *p2pWalk) begin() {
	if p.begun {
		return
	}
	p.begun = true
	before := p.all
	if p.rows.Len() > 0 {
		c := p.rows.Ptr(0)
		before = RowEnd{int(c.FirstSend), int(c.FirstRecv)}
	}
	for k := range before.Send {
		if s := p.Sends.Ptr(k); s.State != trace.Matched {
			p.lostSend(s)
		}
	}
	p.receives(trace.None-1, new(trace.Call), before.Recv)
}

// lostSend counts a send without a partner.
func (p *p2pWalk) lostSend(s *trace.Send) {
	p.sums.Msgs.lostSend(p.L, s)
	p.lacks = p.lacks || s.State != trace.Cancelled
}

// A partnerWait is a wait for another rank's call, because of a message.
type partnerWait struct {
	time     int64
	location trace.LocationID
	call     uint32
	message  uint32 // as in CallWait
}

func (w partnerWait) callWait(kind waitstate.Kind, c *trace.Call) Wait {
	return Wait{Time: w.time, From: c.Enter, Location: w.location, Call: w.call, Kind: kind, message: w.message}
}

// p2pWalk is the walk over one location's calls.
type p2pWalk struct {
	*Finder
	CallWalk
	waits  *Table
	clocks *spill.Table[int64]       // of sync
	needs  *spill.Table[CallKey]     // of sync
	needed uint32                    // rows of needs
	sizes  *spill.Table[CallSize]    // of waiting
	others spill.Cursor[CallSize]    // of sizes: for other calls than the present one
	pairs  spill.Cursor[messagePair] // of messages
	sums   *WaitSums                 // of who visits the location now
	begun  bool
	lacks  bool // a record of a message is missing, or of what some call waits for
	met    bool // a message that the present call sends, receives or completes
	window orderWindow
	flying inFlight    // sends
	joins  inFlight    // collectives that do not block, if there is a sync
	part   *memberPart // the next one that is recorded
	member uint32      // its row
	joined uint32      // the row of its collective
	begins uint32      // the call with which it begins; None: there is none
	taken  int         // the location's parts until there

	// Of the messages that the present call posts or completes:
	bytes    uint64
	size     CallSize
	sender   partnerWait // the longest wait for the send of one, which was sent at sent
	sent     int64
	receiver partnerWait // the longest wait for the posting of the receive of one
	progress partnerWait // the longest wait for a partner to enter MPI
}

// calls goes over the calls of the run, and notes the longest wait of each: for the latest sender or
// receiver, unless it is known to wait longer in a collective. A call that waits for a late sender is no
// late receiver; what it waits longer for a receiver is a wait state of its own.
func (p *p2pWalk) calls() {
	clocks, sizes := Beside(&p.CallWalk, p.clocks), Beside(&p.CallWalk, p.sizes)
	for k := range p.Ahead {
		c, end := p.At(k)
		i, needed := uint32(p.First+k), p.needed
		if clocks != nil {
			clocks[k] = int64(c.Seq())
		}
		p.bytes, p.size, p.sender.time, p.receiver.time, p.progress.time, p.met = 0, 0, 0, 0, 0, false
		if i >= p.begins {
			p.takeParts(i, c)
		}
		if p.flying.due(i) || int(c.FirstSend) < end.Send {
			p.sendsOf(i, c, end.Send)
		}
		if int(c.FirstRecv) < end.Recv {
			p.receives(i, c, end.Recv)
		}
		p.lacks = p.lacks || !p.met && c.Coll == trace.None && mayLack>>c.Class&1 != 0
		if c.Class == trace.ClassProbe {
			p.probe(i, c)
		}
		if p.receiver.time > 0 || p.sender.time > 0 || p.progress.time > 0 {
			p.note(i, c)
		}
		for p.joins.due(i) {
			p.need(CallKey{trace.None, p.joins.take().Row()})
		}
		if p.Sync != nil && (p.needed > needed || c.Coll != trace.None || Startups>>c.Class&1 != 0) {
			*p.Sync.Rows[p.L].Next() = SyncRow{Call: i, Needs: needed, Coll: c.Coll, Class: c.Class}
		}
		if p.size == 0 {
			continue
		}
		if p.addBytes(p.sums, p.L, c, p.bytes); sizes != nil {
			sizes[k] = sizes[k].plus(p.size.Bytes(), p.size.Role())
		}
	}
}

// note notes the wait of a call for a receiver or a sender.
func (p *p2pWalk) note(i uint32, c *trace.Call) {
	var wait Wait
	switch {
	case p.progress.time > p.sender.time && p.receiver.time == 0:
		if wait = p.progress.callWait(waitstate.LateProgress, c); p.sender.time > 0 {
			wait.message = p.waits.addBehind(behind{p.sender.time, p.sender.message, trace.None})
		}
	case p.receiver.time <= p.sender.time:
		wait = p.sender.callWait(waitstate.LateSender, c)
	case p.sender.time == 0:
		wait = p.receiver.callWait(waitstate.LateReceiver, c)
	default:
		wait = p.receiver.callWait(waitstate.LateReceiverBehindLateSender, c)
		wait.message = p.waits.addBehind(behind{p.sender.time, p.sender.message, p.receiver.message})
	}
	if p.waits.Note(i, c, &wait) && p.sender.time > 0 {
		p.window.push(lateInstance{wait: p.sender.time, sent: p.sent, source: p.T.Rank[p.sender.location], call: i})
	}
}

// receives finds the longest wait of call i for the send of a message that it completes, and counts
// what it receives.
func (p *p2pWalk) receives(i uint32, c *trace.Call, end int) {
	waits := c.Class != trace.ClassTest && c.Class != trace.ClassNone
	counts := p.Communicates(c) && p.Scope.Overlaps(p.L, c.Enter, c.Leave)
	for k := int(c.FirstRecv); k < end; k++ {
		r := p.recvs.Ptr(k)
		p.met = p.met || r.Call == i
		switch {
		case r.Call != i:
		case c.Class == trace.ClassSendrecv:
			p.exchanged(r.Bytes)
		default:
			p.carries(r.Bytes, roleReceives)
		}
		if r.Post != r.Call && r.Post != trace.None {
			p.addSize(r.Post, r.Bytes, roleReceives)
		}
		if r.State != trace.Matched {
			p.sums.Msgs.lost(p.L, r)
			p.lacks = p.lacks || r.State != trace.Cancelled
			continue
		}
		s := p.T.Sends[r.SendLoc].Ptr(int(r.Send))
		posted, taken, paths := callTime{s.Time, s.Time}, callTime{r.Time, r.Time}, PathPair{trace.None, trace.None}
		if s.Call != trace.None { // else it is recorded outside any
			post := p.T.Calls[r.SendLoc].Ptr(int(s.Call))
			if r.Call == i && waits {
				p.goOn(receives, c, s, r)
			}
			posted, paths.Send = callTime{post.Enter, post.Leave}, post.Path
		}
		if r.Call == i {
			taken = callTime{c.Enter, c.Leave}
			if s.Call != trace.None && p.needs != nil {
				p.need(CallKey{r.SendLoc, s.Call})
			}
			if w := min(posted.enter, c.Leave) - c.Enter; waits && w > p.sender.time {
				p.sender, p.sent = partnerWait{w, r.SendLoc, s.Call, uint32(k)}, s.Time
			}
		}
		if r.Call != trace.None {
			paths.Recv = c.Path
		}
		if p.Messages != nil {
			*p.pairs.Ptr(k) = p.Messages.join(&p.sums.Met, paths, counts)
		}
		p.sums.Msgs.add(r.SendLoc, p.L, s.Bytes, posted, taken)
		if p.window.newest() > s.Time {
			p.window.arrive(p, p.T.Rank[r.SendLoc], s.Time)
		}
	}
}

// need notes what the present call waits for in the ideal replay.
func (p *p2pWalk) need(x CallKey) {
	*p.needs.Next() = x
	p.needed++
}

// carries adds the bytes of a message to the present call, which posts or completes it.
func (p *p2pWalk) carries(bytes uint64, r Role) {
	p.bytes += bytes
	p.size = p.size.plus(bytes, r)
}

// exchanged adds the bytes of a receive to an MPI_Sendrecv, which has those that it sends, unless it
// only receives.
func (p *p2pWalk) exchanged(bytes uint64) {
	if p.size.Role()&roleSends != 0 {
		bytes = 0
	}
	p.size = p.size.plus(bytes, roleReceives)
}

// addSize notes what a call does whose turn it is not, or that begins a part in a collective.
func (p *p2pWalk) addSize(call uint32, bytes uint64, r Role) {
	if p.sizes != nil {
		size := p.others.Ptr(int(call))
		*size = size.plus(bytes, r)
	}
}

// enterOf returns when a call is entered or, for what is recorded outside any call, the time
// of its record.
func (p *p2pWalk) enterOf(l trace.LocationID, call uint32, at int64) int64 {
	if call == trace.None {
		return at
	}
	return p.T.Calls[l].Ptr(int(call)).Enter
}

// probe finds how long a blocking probe waits for its message: that of the first
// receive that is posted after it, unless another probe comes before.
func (p *p2pWalk) probe(i uint32, c *trace.Call) {
	r, ok := p.probed(i)
	if !ok || r.State != trace.Matched {
		p.sender.time = 0
		return
	}
	s := p.T.Sends[r.SendLoc].Ptr(int(r.Send))
	posted := p.enterOf(r.SendLoc, s.Call, s.Time)
	p.sender, p.sent = partnerWait{max(0, min(posted, c.Leave)-c.Enter), r.SendLoc, s.Call, trace.None}, s.Time
}

// probeReach is how many receives may complete between a probe and the completion of a
// non-blocking receive of the probed message.
const probeReach = 1000

// probed returns the receive of the message that probe i found.
func (p *p2pWalk) probed(i uint32) (trace.Recv, bool) {
	calls, recvs := p.T.Calls[p.L], p.T.Recvs[p.L]
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

// sendsOf finds the longest wait of call i for the posting of the receive of a message whose send it completes, and
// counts what it sends. Its sends that a later call completes are kept until that is met.
func (p *p2pWalk) sendsOf(i uint32, c *trace.Call, end int) {
	for p.flying.due(i) {
		ended := p.flying.take()
		p.met = p.met || ended.Call() == i
		s := p.Sends.Ptr(int(ended.Row()))
		p.carries(s.Bytes, roleSends)
		if s.State != trace.Matched {
			continue
		}
		if c.Class == trace.ClassWait {
			p.posting(c, ended.Row(), s)
		}
		if p.Messages != nil {
			*spill.Ensure(p.T.Store, &p.Messages.Ended[p.L]).Next() = ended
		}
	}
	for k := int(c.FirstSend); k < end; k++ {
		s := p.Sends.Ptr(k)
		if s.Call == i {
			p.met = true
			p.carries(s.Bytes, roleSends)
		}
		if s.Done != trace.None && s.Done > i {
			p.flying.add(s.Done, uint32(k))
		}
		if s.State != trace.Matched {
			p.lostSend(s)
		} else if s.Done == i && (c.Class == trace.ClassSend || c.Class == trace.ClassWait || // MPI_Send and MPI_Ssend
			c.Class == trace.ClassSendrecv && s.Bytes >= p.Exchanging) {
			p.posting(c, uint32(k), s)
		}
	}
}

// posting finds the wait of call c for the posting of the receive of send k, if it is longer
// than that for another one.
func (p *p2pWalk) posting(c *trace.Call, k uint32, s *trace.Send) {
	r := p.T.Recvs[s.RecvLoc].Ptr(int(s.Recv))
	if r.Time <= c.Enter { // a receive is completed after it was posted
		return
	}
	if c.Class != trace.ClassSendrecv {
		p.goOn(sends, c, s, r)
	}
	if posted := p.enterOf(s.RecvLoc, r.Post, r.Time); posted < c.Leave && posted-c.Enter > p.receiver.time {
		p.receiver = partnerWait{posted - c.Enter, s.RecvLoc, r.Post, k}
	}
}

// goOn finds the wait of call c for a partner to enter MPI, if it is longer than that for another one.
func (p *p2pWalk) goOn(end int, c *trace.Call, s *trace.Send, r *trace.Recv) {
	if s.Bytes >= p.held[end].from {
		if w := p.held.waits(p.T, end, c, s, r); w.time > p.progress.time {
			p.progress = w
		}
	}
}

// orderReach is the number of late senders that are remembered at a receiver, as in
// Scalasca.
const orderReach = 100

// A lateInstance is a call that waited for a late sender.
type lateInstance struct {
	wait   int64  // of the call
	sent   int64  // time of the send record of the message that it waited for
	newest int64  // the largest sent of it and of those that came before it
	source uint32 // rank of its sender
	call   uint32 // row of the call
}

// An orderWindow holds the last late senders of one receiver. An instance leaves it when
// it is pushed out or when it is found to be in wrong order, so that it counts once.
type orderWindow struct{ held []lateInstance }

// newest returns the largest sent of what is held, or of what was pushed out; 0 if nothing is held.
func (o *orderWindow) newest() int64 {
	if n := len(o.held); n > 0 {
		return o.held[n-1].newest
	}
	return 0
}

// push remembers a late sender.
func (o *orderWindow) push(i lateInstance) {
	i.newest = max(i.sent, o.newest())
	if len(o.held) == orderReach {
		o.held = o.held[1:]
	}
	o.held = append(o.held, i)
}

// arrive takes note of a message from rank source that was sent at sent: all held instances
// whose message was sent later waited in the wrong order.
func (o *orderWindow) arrive(p *p2pWalk, source uint32, sent int64) {
	held := o.held
	first := len(held)
	for first > 0 && held[first-1].newest > sent {
		first--
	}
	o.held = o.held[:first]
	for k := range held[first:] {
		i := &held[first+k]
		if i.sent <= sent {
			o.push(*i)
			continue
		}
		call := p.rows.Ptr(int(i.call))
		charged := p.sums.Charge(p.Scope, waitstate.LateSenderWrongOrder, p.L, call.Seq(), call.Path, call.Enter, i.wait)
		if source == i.source {
			p.sums.Same = numbers.Plus(p.sums.Same, charged)
		} else {
			p.sums.Different = numbers.Plus(p.sums.Different, charged)
		}
	}
}
