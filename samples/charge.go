package samples

import "tracekit/trace"

// A charge is what one call waited, until all is known of it: a send that did not wait
// for its receiver may turn out to be a late receiver's when that receive is posted.
type charge struct {
	op           opKind
	enter, leave int64
	lateSender   int64
	lateReceiver int64
	collWait     int64
	collKind     *Wait
	sender       arrived   // of the message waited for longest
	messages     []arrived // that the call received
	pending      int       // sends whose receives are not posted yet
}

// arrived is a message that was received.
type arrived struct {
	from int
	sent int64 // time of the send record
}

func newCharge(c *call) *charge { return &charge{op: c.op.kind, enter: c.enter} }

// message charges the wait for a message that a call ends with at end.
func (c *charge) message(m *message, end int64) {
	if m.hidden || c.op == opTest {
		return
	}
	if w := max(0, min(m.enter, end)-c.enter); w > c.lateSender {
		c.lateSender = w
		c.sender = arrived{m.from.id, m.enter + recordCost}
	}
}

// received charges the wait for a message that the call receives, and remembers it for the
// order of others. A message whose send is not recorded tells nothing.
func (c *charge) received(p *receive, end int64) {
	if p.message.hidden {
		return
	}
	c.message(p.message, end)
	c.messages = append(c.messages, arrived{p.message.from.id, p.message.enter + recordCost})
}

// sent charges a send that the call completes.
func (c *charge) sent(m *message, end int64) {
	if m.hidden || c.op == opTest {
		return
	}
	if c.leave = end; m.recv != nil {
		c.late(m.recv.post)
		return
	}
	m.charge = c
	c.pending++
}

// late charges the wait for a receiver that posts its receive at post.
func (c *charge) late(post int64) {
	if c.leave > post {
		c.lateReceiver = max(c.lateReceiver, post-c.enter)
	}
}

// collective charges the wait for the last one to start a non-blocking collective.
func (c *charge) collective(p *part, end int64, waits *WaitStates) {
	last, _ := p.latest(0, len(p.begin))
	if c.op == opTest || len(p.begin) == 1 || max(0, min(last, end)-c.enter) <= c.collWait {
		return
	}
	c.collWait = min(last, end) - c.enter
	switch patternOf(p.op) {
	case trace.PatternBarrier:
		c.collKind = &waits.WaitAtBarrier
	case trace.PatternSparse:
		c.collKind = &waits.WaitAtNxNUnclassified
	default:
		c.collKind = &waits.WaitAtNxN
	}
}

// relevant reports whether the call can wait, or tell the order of messages.
func (c *charge) relevant() bool {
	return c.lateSender > 0 || c.lateReceiver > 0 || c.collWait > 0 || c.pending > 0 || len(c.messages) > 0
}

// settle adds up the calls of a rank, in order, of which all is known. No receive will be
// posted before now.
func (s *simulation) settle(r *rank, all bool) {
	n := 0
	for _, c := range r.charges {
		if !all && c.pending > 0 && c.leave > s.now {
			break
		}
		s.settleCall(r, c)
		n++
	}
	r.charges = append(r.charges[:0], r.charges[n:]...)
}

// settleCall charges a call with the largest of what it waited for. Of a receiver that is
// behind a late sender, it waited for the sender first.
func (s *simulation) settleCall(r *rank, c *charge) {
	w := &s.truth.Waits
	for _, m := range c.messages {
		r.window.received(m, w)
	}
	switch {
	case c.collWait > max(c.lateSender, c.lateReceiver):
		c.collKind.add(c.collWait)
	case c.lateSender > 0:
		w.LateSender.add(c.lateSender)
		w.LateReceiverBehindLateSender.add(c.lateReceiver - c.lateSender)
		r.window.add(late{c.sender, c.lateSender})
	default:
		w.LateReceiver.add(c.lateReceiver)
	}
}

// A late is an instance of late sender that may turn out to be one of wrong order.
type late struct {
	arrived
	wait int64
}

// windowSize is that of Scalasca.
const windowSize = 100

// A window holds a receiver's last instances of late sender.
type window struct {
	lates  []late
	newest int64 // latest sending time among them
}

// add forgets the oldest instance when the window is full.
func (w *window) add(l late) {
	if len(w.lates) == windowSize {
		w.lates = append(w.lates[:0], w.lates[1:]...)
	}
	w.lates = append(w.lates, l)
	w.newest = max(w.newest, l.sent)
}

// received looks for instances whose message was sent after this one, and takes them out.
func (w *window) received(m arrived, waits *WaitStates) {
	if m.sent >= w.newest {
		return
	}
	kept := w.lates[:0]
	w.newest = 0
	for _, l := range w.lates {
		switch {
		case m.sent >= l.sent:
			kept = append(kept, l)
			w.newest = max(w.newest, l.sent)
		case m.from == l.from:
			waits.WrongOrderSame.add(l.wait)
		default:
			waits.WrongOrderDifferent.add(l.wait)
		}
	}
	w.lates = kept
}

// fork computes in all threads of a rank, in a parallel region.
func (s *simulation) fork(r *rank, o *op) {
	if len(r.workers) == 0 {
		s.compute(r, o)
		return
	}
	const model = uint64(trace.ParadigmOpenMP)
	team := uint64(len(s.comms))
	r.master.enter(r.clock, regionParallel)
	r.master.other(r.clock, trace.KindThreadFork, model, uint64(len(r.workers)+1))
	for i, w := range append([]*recorder{r.master}, r.workers...) {
		end := r.clock + o.ticks - o.ticks/8*int64(i)/int64(len(r.workers)) // workers have less to do
		w.other(r.clock, trace.KindThreadTeamBegin, team)
		w.enter(r.clock, o.region)
		w.leave(end, o.region)
		w.other(end, trace.KindThreadTeamEnd, team)
	}
	r.clock += o.ticks
	r.master.other(r.clock, trace.KindThreadJoin, model)
	r.master.leave(r.clock, regionParallel)
}
