package paraver

import (
	"math"

	"tracekit/trace"
)

// p2p writes a communication event: as it is, for reading back, and as one side of a
// communication line. The four times of that line are the begin and the end of the calls, as
// Extrae has them; so sends and receives wait in it until their call is left.
func (t *threadWriter) p2p(p *trace.P2P, i int) {
	kind, request := p.Kind[i], p.Request[i]
	if !t.w.options.Plain {
		t.ownMessage(p, i)
	}
	switch kind {
	case trace.KindMpiSend, trace.KindMpiIsend:
		if m, ok := t.message(p, i); ok {
			m.begin, m.order = t.callTime(), t.order(t.seq, t.last)
			t.sends = append(t.sends, m)
		}
	case trace.KindMpiIrecvRequest:
		t.posted[request] = posting{t.callTime(), t.seq}
	case trace.KindMpiRecv, trace.KindMpiIrecv:
		post, ok := t.posted[request]
		if kind == trace.KindMpiRecv || !ok {
			post = posting{t.callTime(), t.seq}
		} else {
			delete(t.posted, request)
		}
		if m, ok := t.message(p, i); ok {
			m.begin, m.order = post.time, t.order(post.seq, post.time)
			t.recvs = append(t.recvs, m)
		}
	case trace.KindMpiRequestCancelled:
		delete(t.posted, request)
	}
	if t.w.options.Plain && kind != trace.KindMpiSend && kind != trace.KindMpiRecv {
		t.w.lose("requests of messages", 1)
	}
	if len(t.calls) == 0 || len(t.sends)+len(t.recvs) > 1<<16 {
		t.endMessages()
	}
}

// order returns by what the endpoints of a channel are ordered: within a thread as they
// are posted, between threads by time.
func (t *threadWriter) order(seq uint64, time int64) int64 {
	if len(t.w.objects.tasks[t.rank].threads) > 1 {
		return time
	}
	return int64(seq)
}

// callTime returns when the open call was entered, the present time outside of calls.
func (t *threadWriter) callTime() int64 {
	if len(t.calls) > 0 {
		return t.calls[0].time
	}
	return t.last
}

// message resolves the partner; ok is false if that cannot be done.
func (t *threadWriter) message(p *trace.P2P, i int) (m message, ok bool) {
	peer := t.w.groups.rank(p.Comm[i], t.rank, p.Peer[i])
	if peer == trace.None || int(peer) >= len(t.w.objects.tasks) {
		t.w.lose("messages whose partner is not known", 1)
		return m, false
	}
	c := channel{comm: uint32(p.Comm[i]), from: t.rank, to: peer, tag: p.Tag[i]}
	if k := p.Kind[i]; k == trace.KindMpiRecv || k == trace.KindMpiIrecv {
		c.from, c.to = peer, t.rank
	}
	return message{channel: c, location: t.location, bytes: p.Bytes[i]}, true
}

// endMessages gives the messages of a call the time when it is left.
func (t *threadWriter) endMessages() {
	for i, side := range [...][]message{t.sends, t.recvs} {
		for _, m := range side {
			m.end = t.last
			t.endpoints(i).put(m)
		}
	}
	t.sends, t.recvs = t.sends[:0], t.recvs[:0]
}

// ownMessage writes a communication event as it is.
func (t *threadWriter) ownMessage(p *trace.P2P, i int) {
	peer, comm := int64(noRank), int64(0)
	if p.Peer[i] != trace.None {
		peer = int64(t.w.groups.local(p.Comm[i], p.Peer[i]))
		comm = t.w.groups.id(p.Comm[i], t.rank)
	}
	t.event(ownMessage, uint64(p.Kind[i]), ownPeer, uint64(peer), ownComm, uint64(comm), ownTag, uint64(p.Tag[i]),
		ownBytes, p.Bytes[i], ownRequest, p.Request[i])
}

// collective writes an event of a collective, and keeps for the line of the call what that
// says. Extrae tells sizes, communicator and root on the line that enters the call, which is
// therefore written at its end; of a non-blocking collective, when it is completed.
func (t *threadWriter) collective(c *trace.Coll, i int) {
	kind, request := c.Kind[i], c.Request[i]
	comm := t.w.groups.id(c.Comm[i], t.rank)
	if !t.w.options.Plain {
		root := int64(noRank)
		if c.Root[i] != trace.None {
			root = int64(t.w.groups.local(c.Comm[i], c.Root[i]))
		}
		t.event(ownColl, uint64(kind), ownOp, uint64(c.Op[i]), ownComm, uint64(comm), ownRoot, uint64(root),
			ownSent, c.Sent[i], ownReceived, c.Received[i], ownRequest, request)
	}
	n := len(t.calls) - 1
	switch {
	case kind == trace.KindNonBlockingCollectiveRequest && n >= 0:
		if !t.calls[n].later {
			t.started[request] = t.calls[n]
			t.calls[n].later = true
		}
	case kind == trace.KindNonBlockingCollectiveComplete:
		if open, ok := t.started[request]; ok {
			delete(t.started, request)
			t.describe(&open, c, i, comm)
			t.write(&open)
			return
		}
		if t.w.options.Plain {
			t.w.lose("collectives outside of calls", 1)
		}
	case kind == trace.KindCollectiveEnd && n >= 0:
		if t.w.options.Plain && t.w.values.regions[t.calls[n].region].op != c.Op[i] {
			t.w.lose("collectives that are not those of their call", 1)
		}
		t.describe(&t.calls[n], c, i, comm)
	case kind == trace.KindCollectiveEnd && t.w.options.Plain:
		t.w.lose("collectives outside of calls", 1)
	}
}

// describe fills in what an event says about a collective.
func (t *threadWriter) describe(o *call, c *trace.Coll, i int, comm int64) {
	o.coll, o.comm, o.sent, o.received = true, comm, c.Sent[i], c.Received[i]
	o.root = t.w.groups.isRoot(c.Comm[i], t.rank, c.Root[i])
}

// metric writes the values of one event. Values in the
// format are integers: others are rounded, and counted if that changes them. (PRECISION in the
// .pcf file scales all values of a type alike, and how many digits those that are still to come
// need is not known when the first is written.)
func (t *threadWriter) metric(m *trace.MetricValues, r trace.Row) {
	members := t.w.defs.CountersOf(m.Metric[r.First])
	var pairs []uint64
	for i := r.First; i < r.End; i++ {
		at := int(m.Member[i])
		if at >= len(members) || int(members[at]) >= len(t.w.values.members) {
			t.w.lose("counters that are not defined", 1)
			continue
		}
		v := m.Value[i]
		if m.Type[i] == trace.TypeDouble || m.Type[i] == trace.TypeFloat {
			f := math.Float64frombits(v)
			if !(f >= -1<<63 && f < 1<<63) { // what is not a number either
				t.w.lose("counters beyond 64 bits", 1)
				continue
			}
			if v = uint64(int64(math.RoundToEven(f))); f != math.RoundToEven(f) {
				t.w.lose("fractions of counters", 1)
			}
		}
		t.w.values.metric.set(int(members[at]))
		pairs = append(pairs, uint64(t.w.values.members[members[at]]), v)
	}
	if len(pairs) > 0 {
		t.event(pairs...)
	}
}

// other writes the events that Extrae has types for as these, and the rest as our own.
func (t *threadWriter) other(o *trace.Other, i int) {
	args, kind := o.Args[o.Offset[i]:o.Offset[i+1]], o.Kind[i]
	plain := t.w.options.Plain
	switch {
	case kind == trace.KindProgramBegin:
		t.program(1)
		t.w.lose("names and arguments of the program", 1)
	case kind == trace.KindProgramEnd:
		t.program(0)
	case kind == trace.KindMeasurementOnOff && len(args) > 0:
		on := uint64(0)
		if args[0] == trace.MeasurementOn {
			on = 1
		}
		t.w.values.tracing.Store(true)
		t.event(typeTracing, on)
	case kind == trace.KindBufferFlush && len(args) > 0:
		t.flush(int64(args[0]))
	case kind == trace.KindInstant && !plain && len(args) > 0 && args[0] < uint64(len(t.w.defs.Strings)):
		t.w.values.texts.set(int(args[0]))
		t.event(ownInstant, args[0]+1)
	case kind != trace.KindInstant && !plain && len(args) <= maxArguments:
		t.w.values.arguments.set(len(args))
		pairs := []uint64{ownOther, uint64(kind), ownArguments, uint64(len(args))}
		for i, a := range args {
			pairs = append(pairs, ownArgument+uint64(i), a)
		}
		t.event(pairs...)
	default:
		t.w.lose("events "+kind.String(), 1)
	}
}

// flush writes a flush of the measurement's buffer.
func (t *threadWriter) flush(stop int64) {
	stop = max(stop, t.last)
	t.end = max(t.end, stop)
	t.w.values.flush.Store(true)
	t.event(typeFlush, 1)
	t.eventAt(stop, t.seq, []uint64{typeFlush, 0})
}

// program writes the begin or the end of the program.
func (t *threadWriter) program(value uint64) {
	t.w.values.application.Store(true)
	t.event(typeApplication, value)
}
