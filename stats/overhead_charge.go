package stats

import (
	"context"
	"slices"

	"tracekit/spill"
	"tracekit/stats/fit"
	"tracekit/trace"
)

// charge charges the overhead of all calls, location by location.
func (o *overheads) charge(ctx context.Context) error {
	for l := range o.t.Calls {
		if err := ctx.Err(); err != nil {
			return err
		}
		w := &charger{overheads: o, l: trace.LocationID(l), sends: o.t.Sends[l], done: newInFlight(), sums: make(map[trace.PathID]int64)}
		for e := range o.commCalls(w.l) {
			w.remember(e)
			if done := w.done.take(e.row); e.counts {
				w.call(e, done)
			}
		}
		w.end()
	}
	o.pairs.release()
	return nil
}

// A charger charges the calls of one location.
type charger struct {
	*overheads
	l     trace.LocationID
	sends *spill.Table[trace.Send]
	done  inFlight     // the matched ones
	found []messageEnd // of the present call
	sums  map[trace.PathID]int64
}

// A messageEnd is one end of a matched message in a call: that posts or completes its send,
// or completes its receive.
type messageEnd struct {
	pair     uint32
	receives bool
	row      uint32
}

// call charges one call, which completes the given sends of others, to its path, its key
// and the pairs of lines that it joins.
func (w *charger) call(e *commCall, done []uint32) {
	x := w.limitAt(e.Path, e.key)
	part := split(e, x)
	w.paths[e.Path].merge(&part)
	if part.overhead > 0 {
		w.sums[e.Path] += part.overhead
	}
	if x.group >= 0 {
		w.charged[x.group] += part.overhead
	}
	w.found = w.found[:0]
	if part.overhead > 0 || e.wait > 0 {
		w.sent(e, done)
	}
	w.received(e)
	w.chargePairs(&part, e)
}

// remember keeps the sends of a call that a later call completes until that is met.
func (w *charger) remember(e *commCall) {
	for k := int(e.FirstSend); k < e.last.send; k++ {
		if s := w.sends.Ptr(k); s.State == trace.Matched && s.Done != trace.None && s.Done > e.row {
			w.done.add(s.Done, uint32(k))
		}
	}
}

// sent adds the ends of the messages whose sends a call posts, and of those that it
// completes.
func (w *charger) sent(e *commCall, done []uint32) {
	pairs := w.pairs.sends[w.l]
	for k := int(e.FirstSend); k < e.last.send; k++ {
		if s := w.sends.Ptr(k); s.State == trace.Matched && s.Call == e.row {
			w.found = append(w.found, messageEnd{pairs.At(k), false, uint32(k)})
		}
	}
	for _, k := range done {
		w.found = append(w.found, messageEnd{pairs.At(int(k)), false, k})
	}
}

// received adds the ends of the messages whose receives a call completes.
func (w *charger) received(e *commCall) {
	for k := int(e.FirstRecv); k < e.last.recv; k++ {
		if pair := w.pairs.recvs[w.l].At(k); pair > 0 {
			w.found = append(w.found, messageEnd{pair, true, uint32(k)})
		}
	}
}

// split divides the overhead of one call: late partner is what it waits, transfer what
// its own size needs beyond the smallest of its class, unexplained is the rest.
func split(e *commCall, x limit) overheadSum {
	s := overheadSum{calls: 1, total: e.ticks, overhead: fit.Overhead(e.time, x.tMax)}
	if s.overhead > 0 {
		s.slow = 1
	}
	s.late = min(s.overhead, e.wait)
	s.transfer = min(s.overhead-s.late, x.transfer)
	s.unexplained = s.overhead - s.late - s.transfer
	return s
}

// chargePairs charges the late-partner part of a call's overhead, and its wait in ns, to
// the message whose partner causes the wait, and divides the rest evenly among all.
func (w *charger) chargePairs(part *overheadSum, e *commCall) {
	late, rest := part.late, part.overhead-part.late
	blamed := -1
	if e.wait > 0 {
		blamed = slices.IndexFunc(w.found, func(m messageEnd) bool { return m.causes(&e.cause) })
	}
	if blamed < 0 {
		late, rest = 0, part.overhead
	}
	for k, m := range w.found {
		s := &w.pairs.sums[m.pair-1]
		overhead := rest / int64(len(w.found)-k)
		rest -= overhead
		if k == blamed {
			overhead += late
		}
		s.charged = true
		if m.receives {
			s.messages++
			s.recvOverhead += overhead
		} else {
			s.sendOverhead += overhead
		}
		switch {
		case k != blamed:
		case m.receives:
			s.lateSender += e.wait
		default:
			s.lateReceiver += e.wait
		}
	}
}

// causes reports whether a wait is for this message.
func (m *messageEnd) causes(wait *CallWait) bool {
	kind := LateReceiver
	if m.receives {
		kind = LateSender
	}
	return wait.Kind == kind && wait.message == m.row
}

// end notes what the location was charged, by path.
func (w *charger) end() {
	for _, path := range sortedPaths(w.sums) {
		w.byRank.Append(pathOnRank{path, w.t.Rank[w.l], w.sums[path]})
	}
}
