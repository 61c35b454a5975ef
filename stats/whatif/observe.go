package whatif

import (
	"context"
	"math"

	"tracekit/document/waitstate"
	"tracekit/engine"
	"tracekit/spill"
	"tracekit/stats/waits"
	"tracekit/trace"
)

// observations collects flights.
type observations struct {
	flights         map[flightKey]*flight
	overhead, floor int64
	longest         int64
	long            int64 // a call that takes longer has waited for something
	residual        bool  // what such a call completes shows how long messages take
	recent          recent[*flight]
}

func newObservations(long int64, residual bool) *observations {
	return &observations{flights: make(map[flightKey]*flight), overhead: math.MaxInt64, floor: math.MaxInt64, long: long, residual: residual}
}

func (o *observations) merge(p *observations) *observations {
	for key, f := range p.flights {
		if have := o.flights[key]; have != nil {
			have.merge(f)
		} else {
			c := *f
			o.flights[key] = &c
		}
	}
	o.overhead, o.floor, o.longest = min(o.overhead, p.overhead), min(o.floor, p.floor), max(o.longest, p.longest)
	return o
}

// see takes note of a call of some sort, which it returns.
func (o *observations) see(key flightKey, c *trace.Call) *flight {
	bytes := key.size
	key.size = classOf(bytes)
	f := o.recent.find(key, o.flight)
	f.shortest, o.longest = min(f.shortest, c.Leave-c.Enter), max(o.longest, c.Leave-c.Enter)
	if f.least == math.MaxInt64 {
		f.bytes = min(f.bytes, bytes)
	}
	return f
}

// time takes note of a call that needs something that began at.
func (o *observations) time(f *flight, bytes uint64, c *trace.Call, at int64) {
	if at >= c.Enter || o.residual && c.Leave-c.Enter > o.long {
		f.merge(&flight{least: c.Leave - at, shortest: math.MaxInt64, ready: math.MaxInt64, bytes: bytes})
	}
}

func (o *observations) flight(key flightKey) *flight {
	f := o.flights[key]
	if f == nil {
		f = &flight{flightKey: key, least: math.MaxInt64, shortest: math.MaxInt64, ready: math.MaxInt64, bytes: math.MaxUint64}
		o.flights[key] = f
	}
	return f
}

// observeAll notes the messages of all locations, or what sends alone say of them. Calls that take longer than so many ticks have waited.
func (m *Model) observeAll(ctx context.Context, n *network, waits waits.ByCall, long int64, sends bool) (*observations, error) {
	return engine.Fold(ctx, m.jobs, len(m.t.Calls), func() *observations {
		return newObservations(long, !sends && long < math.MaxInt64)
	}, func(o *observations, l int) error {
		x := observer{Model: m, observations: o, n: n, l: trace.LocationID(l), calls: m.t.Calls[l].Cursor(), waits: waits[l], call: trace.None}
		for first, rows := range m.t.Recvs[l].Rows {
			if sends {
				break
			}
			for i := range rows {
				x.receive(&rows[i], first+i)
			}
		}
		for _, rows := range m.t.Sends[l].Rows {
			for i := range rows {
				x.send(&rows[i])
			}
		}
		return nil
	}, (*observations).merge)
}

// An observer notes the messages of a location. The other side is looked up only for calls that wait, since
// only they show how long messages take.
type observer struct {
	*Model
	*observations
	n     *network
	l     trace.LocationID
	calls spill.Cursor[trace.Call]
	waits *waits.Table
	call  uint32      // of which the wait was looked up last
	wait  *waits.Wait // nil: there is none
}

func (x *observer) waitOf(call uint32) *waits.Wait {
	if call != x.call {
		x.call, x.wait = call, x.waits.Of(int(call))
	}
	return x.wait
}

// receive notes a row of receives.
func (x *observer) receive(r *trace.Recv, row int) {
	if r.State != trace.Matched || r.Call == trace.None {
		return
	}
	c := x.calls.Ptr(int(r.Call))
	if c.Class == trace.ClassWait {
		x.floor = min(x.floor, c.Leave-c.Enter)
	}
	f, w := x.see(flightKey{kind: arrivalOf(r), size: r.Bytes}, c), x.waitOf(r.Call)
	if w == nil {
		f.ready = min(f.ready, c.Leave-c.Enter)
	}
	if isProgress(w) { // how long its messages take does not show
		return
	}
	if (w != nil || x.residual && c.Leave-c.Enter > x.long) && f.looksUp(x.l) {
		if w != nil && endsWithSend(w, row, c) {
			x.time(f, r.Bytes, c, w.From+w.Time)
		} else if send := x.sender(r); send != nil {
			x.time(f, r.Bytes, c, send.Enter)
		}
	}
	if r.Post != r.Call && r.Post != trace.None {
		x.see(flightKey{kind: postToWait, size: r.Bytes}, c)
	}
}

// send notes a row of sends.
func (x *observer) send(s *trace.Send) {
	if s.Call == trace.None {
		return
	}
	c := x.calls.Ptr(int(s.Call))
	if c.Class == trace.ClassIsend || c.Class == trace.ClassBsend {
		x.observations.overhead = min(x.observations.overhead, c.Leave-c.Enter)
	}
	kind, done := x.n.acknowledgement(s, &x.calls)
	if done == nil {
		return
	}
	if kind == postToSendWait {
		x.floor = min(x.floor, done.Leave-done.Enter)
		x.see(flightKey{kind: sendToSendWait, size: s.Bytes}, done)
	}
	f, wait := x.see(flightKey{kind: kind, size: s.Bytes}, done), x.waitOf(s.Done)
	if wait == nil {
		f.ready = min(f.ready, done.Leave-done.Enter)
	}
	if isProgress(wait) {
		return
	}
	short := done.Leave-done.Enter <= x.long
	if !x.n.lateReceivers && short || kind == postToSendWait && x.n.isAlways(c) || !f.looksUp(x.l) {
		return
	}
	post := x.poster(s)
	if post == nil {
		return
	}
	if kind != postToSendWait && post.Enter > done.Enter && post.Enter < done.Leave {
		f.merge(&flight{least: done.Leave - post.Enter, shortest: math.MaxInt64, ready: math.MaxInt64, bytes: s.Bytes})
	}
	if kind == postToSsend {
		return
	}
	switch {
	case post.Enter+x.n.wire(s.Bytes) >= done.Leave || c.Enter+x.n.wire(s.Bytes) > done.Leave:
		f.passed++
	case post.Enter <= done.Enter && (short || kind == postToSend || !x.sendsOnly(int(s.Done))):
	case post.Enter <= done.Enter || wait != nil &&
		(wait.Kind == waitstate.LateReceiver || wait.Kind == waitstate.LateReceiverBehindLateSender):
		f.blocked++
	}
}

func isProgress(w *waits.Wait) bool { return w != nil && w.Kind == waitstate.LateProgress }

// sendsOnly reports whether a call completes no receive.
func (x *observer) sendsOnly(call int) bool {
	calls := x.t.Calls[x.l]
	return call+1 < calls.Len() && calls.Ptr(call).FirstRecv == calls.Ptr(call+1).FirstRecv
}

// observe takes note of the parts of an instance of a collective.
func (r *rules) observe(c *trace.Collective, last int64) {
	for _, m := range r.in {
		key := flightKey{collective, max(m.Sent, m.Received), c.Op}
		part := trace.Call{Enter: m.Begin, Leave: m.End}
		switch waits := r.members.At(m.row)&awaits != 0; {
		case m.Done == trace.None:
		case m.Done == m.Call && waits:
			r.seen.time(r.seen.see(key, &part), key.size, &part, max(m.Begin, last))
		case m.Done == m.Call:
			r.seen.time(r.seen.see(key, &part), key.size, &part, m.Begin)
		case waits:
			done := r.t.Calls[m.Location].Ptr(int(m.Done))
			r.seen.floor = min(r.seen.floor, done.Leave-done.Enter)
			r.seen.time(r.seen.see(flightKey{kind: beginToWait, op: c.Op}, done), 0, done, last)
		}
	}
}

// arrivalOf says what completes a receive.
func arrivalOf(r *trace.Recv) flightKind {
	if r.Post == r.Call {
		return sendToRecv
	}
	return sendToWait
}

// acknowledgement returns the call that completes a send, nil if that does not wait for the
// receiver whatever the size.
func (n *network) acknowledgement(s *trace.Send, calls *spill.Cursor[trace.Call]) (flightKind, *trace.Call) {
	if s.State != trace.Matched || s.Done == trace.None {
		return 0, nil
	}
	switch done := calls.Ptr(int(s.Done)); {
	case s.Done == s.Call && done.Class == trace.ClassSend && n.isAlways(done):
		return postToSsend, done
	case s.Done == s.Call && done.Class == trace.ClassSend:
		return postToSend, done
	case s.Done > s.Call && done.Class == trace.ClassWait:
		return postToSendWait, done
	}
	return 0, nil
}
