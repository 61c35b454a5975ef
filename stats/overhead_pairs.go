package stats

import (
	"cmp"
	"maps"
	"slices"

	"tracekit/trace"
)

// A pathPair is the path of the call that posts a send and of the one that completes the
// receive.
type pathPair struct{ send, recv trace.PathID }

// A pairSum adds up the messages of a pair.
type pairSum struct {
	messages                 uint64
	sendOverhead             int64 // ns
	recvOverhead             int64
	lateSender, lateReceiver int64 // ns of wait
}

func (s *pairSum) merge(o *pairSum) {
	s.messages += o.messages
	s.sendOverhead, s.recvOverhead = s.sendOverhead+o.sendOverhead, s.recvOverhead+o.recvOverhead
	s.lateSender, s.lateReceiver = s.lateSender+o.lateSender, s.lateReceiver+o.lateReceiver
}

// A messageEnd is one end of a matched message in a call: that posts or completes its send,
// or completes its receive.
type messageEnd struct {
	pair     pathPair
	receives bool
	location trace.LocationID // of the partner
	call     uint32           // of the partner, that a wait is blamed on; None: none
}

// remember keeps the sends of call i that a later call completes until that is met.
func (w *chargeWalk) remember(i uint32, c *trace.Call, last int) {
	for k := int(c.FirstSend); k < last; k++ {
		if s := w.t.Sends[w.l].Ref(k); s.State == trace.Matched && s.Done != trace.None && s.Done > i {
			w.done[s.Done] = append(w.done[s.Done], uint32(k))
		}
	}
}

// ends appends the ends of matched messages in call i.
func (w *chargeWalk) ends(out []messageEnd, i uint32, c *trace.Call, last rowEnd) []messageEnd {
	for k := int(c.FirstSend); k < last.send; k++ {
		if s := w.t.Sends[w.l].At(k); s.State == trace.Matched && s.Call == i {
			out = w.addSend(out, &s)
		}
	}
	if rows, ok := w.done[i]; ok {
		for _, k := range rows {
			s := w.t.Sends[w.l].At(int(k))
			out = w.addSend(out, &s)
		}
		delete(w.done, i)
	}
	for k := int(c.FirstRecv); k < last.recv; k++ {
		if e, ok := w.received(i, c, k); ok {
			out = append(out, e)
		}
	}
	return out
}

// received returns the receiver's end of row k; ok is false if call i does not complete a
// matched receive there.
func (w *chargeWalk) received(i uint32, c *trace.Call, k int) (e messageEnd, ok bool) {
	r := w.t.Recvs[w.l].Ref(k)
	if r.State != trace.Matched || r.Call != i {
		return e, false
	}
	from, send := r.SendLoc, int(r.Send)
	call := w.t.Sends[from].Ref(send).Call
	return messageEnd{pathPair{w.pathOf(from, call), c.Path}, true, from, call}, true
}

// countReceives counts the messages that call i receives, which has no overhead to charge.
func (w *chargeWalk) countReceives(i uint32, c *trace.Call, last int) {
	for k := int(c.FirstRecv); k < last; k++ {
		if e, ok := w.received(i, c, k); ok {
			w.pairSum(e.pair).messages++
		}
	}
}

// pairSum returns the sum of a pair, which is mostly that of the message before.
func (w *chargeWalk) pairSum(p pathPair) *pairSum {
	if w.of != nil && w.pair == p {
		return w.of
	}
	s := w.pairs[p]
	if s == nil {
		s = new(pairSum)
		w.pairs[p] = s
	}
	w.pair, w.of = p, s
	return s
}

// addSend appends the sender's end of a message.
func (w *chargeWalk) addSend(out []messageEnd, s *trace.Send) []messageEnd {
	r := w.t.Recvs[s.RecvLoc].Ref(int(s.Recv))
	call, post := r.Call, r.Post
	return append(out, messageEnd{pathPair{w.pathOf(w.l, s.Call), w.pathOf(s.RecvLoc, call)}, false, s.RecvLoc, post})
}

// pathOf returns the path of a call, None for what is recorded outside any call.
func (w *chargeWalk) pathOf(l trace.LocationID, call uint32) trace.PathID {
	if call == trace.None {
		return trace.None
	}
	return w.t.Calls[l].Ref(int(call)).Path
}

// chargePairs charges the late-partner part of a call's overhead, and its wait in ns, to
// the message whose partner causes the wait, and divides the rest evenly among all.
func (w *chargeWalk) chargePairs(ends []messageEnd, part *overheadSum, wait *CallWait, waited int64) {
	late, rest := part.late, part.overhead-part.late
	blamed := slices.IndexFunc(ends, func(e messageEnd) bool { return waited > 0 && e.causes(wait) })
	if blamed < 0 {
		late, rest = 0, part.overhead
	}
	for k, e := range ends {
		s := w.pairSum(e.pair)
		overhead := rest / int64(len(ends)-k)
		rest -= overhead
		if k == blamed {
			overhead += late
		}
		if e.receives {
			s.messages++
			s.recvOverhead += overhead
		} else {
			s.sendOverhead += overhead
		}
		switch {
		case k != blamed:
		case e.receives:
			s.lateSender += waited
		default:
			s.lateReceiver += waited
		}
	}
}

// causes reports whether a wait is for this message.
func (e *messageEnd) causes(wait *CallWait) bool {
	kind := LateReceiver
	if e.receives {
		kind = LateSender
	}
	return wait.Kind == kind && wait.Location == e.location && wait.Call == e.call
}

// Verdicts about a pair of lines.
const (
	verdictNone         = "none"
	verdictLateSender   = "late sender"
	verdictLateReceiver = "late receiver"
)

// pairRows joins the pairs of paths by source line, the pair with the most overhead first.
func (o *overheads) pairRows(p *profiler) []OverheadPair {
	type lines struct{ send, recv site }
	sums := make(map[lines]*pairSum)
	var order []lines
	for _, k := range slices.SortedFunc(maps.Keys(o.pairs), func(a, b pathPair) int {
		return cmp.Or(cmp.Compare(a.send, b.send), cmp.Compare(a.recv, b.recv))
	}) {
		at := lines{p.endOf(k.send), p.endOf(k.recv)}
		if sums[at] == nil {
			sums[at] = new(pairSum)
			order = append(order, at)
		}
		sums[at].merge(o.pairs[k])
	}
	slices.SortStableFunc(order, func(a, b lines) int {
		x, y := sums[a], sums[b]
		return cmp.Or(cmp.Compare(y.sendOverhead+y.recvOverhead, x.sendOverhead+x.recvOverhead), cmp.Compare(y.messages, x.messages))
	})
	rows := []OverheadPair{}
	for _, at := range order {
		rows = append(rows, sums[at].row(p.pairEnd(at.send), p.pairEnd(at.recv)))
	}
	return rows
}

// endOf returns the site of a path that may be missing.
func (p *profiler) endOf(path trace.PathID) site {
	if int(path) >= len(p.t.Tree.Nodes) {
		return site{trace.None, trace.SourceLine{Region: trace.None, File: trace.None}}
	}
	return p.siteOfPath(path)
}

func (p *profiler) pairEnd(s site) PairEnd {
	region, file, line := names(p.t.Defs, s.line)
	return PairEnd{Region: region, File: file, Line: line, Operation: Name(p.t.Defs.RegionLabel(s.operation))}
}

func (s *pairSum) row(send, recv PairEnd) OverheadPair {
	out := OverheadPair{Send: send, Receive: recv, Messages: s.messages, SendOverheadNs: s.sendOverhead, ReceiveOverheadNs: s.recvOverhead,
		LateSenderNs: s.lateSender, LateReceiverNs: s.lateReceiver, Verdict: verdictNone}
	switch {
	case s.recvOverhead+s.sendOverhead == 0:
	case s.recvOverhead >= s.sendOverhead:
		out.Verdict, out.Confirmed = verdictLateSender, s.lateSender > s.lateReceiver
	default:
		out.Verdict, out.Confirmed = verdictLateReceiver, s.lateReceiver > s.lateSender
	}
	return out
}
