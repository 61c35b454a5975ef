package headers

import (
	"cmp"
	"math"
	"slices"

	"tracekit/document/waitstate"
	"tracekit/stats/waits"
	"tracekit/trace"
)

// A stretch is what a transfer, or a call that did not wait, takes beyond what it needs. Its waiter is in MPI all the while.
type stretch struct {
	from, to        int64 // of the transfer or call
	beyond          int64 // ticks of it that are to be explained
	waiter, partner trace.LocationID
	bytes           uint64
	sends           bool // the partner is the one who sends
}

// missing is time of which a record is missing that would explain it.
type missing struct {
	node     int64 // where both ranks run
	progress int64 // whether such a message needs its partner in MPI
}

// explain divides a stretch by what the trace tells, in this order, each as far as there is room: a message queued behind earlier
// ones; its partner was not in MPI, and such messages need that; nobody was missing, on one node or on two.
func (r *run) explain(s stretch, queued int64, to *legTimes) (m missing) {
	rest := s.beyond
	take := func(time int64) int64 {
		time = max(0, min(time, rest))
		rest -= time
		return time
	}
	to[tagQueued] += take(queued)
	progress := &r.progresses.receiver
	if s.sends {
		progress = &r.progresses.sender
	}
	switch needs, known := progress.needs(s.bytes); {
	case needs:
		to[tagProgress] += take(r.outsideMPI(s.partner, s.from, s.to))
	case !known:
		m.progress = take(r.outsideMPI(s.partner, s.from, s.to))
	}
	a, b := r.nodes[s.waiter], r.nodes[s.partner]
	switch {
	case a == trace.None || b == trace.None:
		m.node = take(rest)
	case a == b:
		to[tagSystem] += take(rest)
	default:
		to[tagNetwork] += take(rest)
	}
	to[tagUnexplained] += m.node + m.progress
	return m
}

// transferred explains what a transfer took beyond the model.
func (r *run) transferred(l trace.LocationID, c *call, w waits.Wait, beyond int64, to *legTimes) missing {
	s := stretch{from: r.t.Calls[w.Location].Ptr(int(w.Call)).Enter, to: c.Leave, beyond: beyond, waiter: l, partner: w.Location}
	var queued int64
	if k := r.waits[l].Message(&w); w.Kind == waitstate.LateSender {
		m := r.t.Recvs[l].Ptr(int(k))
		s.bytes, s.sends = m.Bytes, true
		queued = r.queued(l, c, k)
	} else {
		s.bytes = r.t.Sends[l].Ptr(int(k)).Bytes
	}
	return r.explain(s, queued, to)
}

// took explains what a call that did not wait took beyond what it needs: x loses it. What the trace does not explain stays overhead.
func (r *run) took(l trace.LocationID, c *call, x *own, to *legTimes) {
	if x.beyond == 0 {
		return
	}
	var parts legTimes
	switch s, k, ok := r.counterpart(l, c, x); {
	case c.local():
		parts[tagSystem] = x.beyond
	case ok:
		var queued int64
		if k != trace.None {
			queued = r.queued(l, c, k)
			parts[tagProgress] = min(s.beyond, r.entered(l, c, k))
			s.beyond -= parts[tagProgress]
		}
		r.explain(s, queued, &parts)
	}
	parts[tagUnexplained] = 0
	for tag, time := range parts {
		to[tag] += time
		x.rest -= time
	}
}

// entered returns how long the transfer of message k takes in call c because its receiver was not in MPI before, where such
// messages need that.
func (r *run) entered(l trace.LocationID, c *call, k uint32) int64 {
	m := r.t.Recvs[l].Ptr(int(k))
	if needs, _ := r.progresses.receiver.needs(m.Bytes); !needs {
		return 0
	}
	s := r.t.Sends[m.SendLoc].Ptr(int(m.Send))
	posts := r.t.Calls[m.SendLoc].Ptr(int(s.Call))
	wire, copying := r.costs.transfer(l, c.Class, m.SendLoc, posts.Class, m.Bytes)
	if before, _ := r.before(l, posts.Enter); posts.Enter+wire+copying > c.Enter || c.Enter-posts.Enter <= r.inside[l].At(int(c.row))-before {
		return 0 // under way in any case, or the receiver was in MPI since it was sent
	}
	return wire + copying
}

// counterpart returns the stretch of a call that did not wait: for the last message that it sends, or the last to be sent of those that it
// receives, whose row k is.
func (r *run) counterpart(l trace.LocationID, c *call, x *own) (s stretch, k uint32, ok bool) {
	s = stretch{from: c.Enter, to: c.Leave, beyond: x.beyond, waiter: l, sends: x.tag == tagReceive}
	k = trace.None
	if x.tag == tagReceive {
		latest := int64(0)
		for i := c.firstRecv; i < c.endRecv; i++ {
			m := r.t.Recvs[l].Ptr(i)
			if enter, known := r.posted(m); known && m.Call == c.row && (!ok || enter >= latest) {
				latest, ok, k = enter, true, uint32(i)
				s.partner, s.bytes = m.SendLoc, m.Bytes
			}
		}
		return s, k, ok
	}
	sends := r.t.Sends[l]
	end := sends.Len()
	if int(c.row)+1 < r.t.Calls[l].Len() {
		end = int(r.t.Calls[l].Ptr(int(c.row) + 1).FirstSend)
	}
	for i := end - 1; i >= max(0, end-mostLooked); i-- {
		if m := sends.Ptr(i); m.Done == c.row && m.State == trace.Matched {
			s.partner, s.bytes = m.RecvLoc, m.Bytes
			return s, trace.None, true
		}
	}
	return s, trace.None, false
}

// mostLooked bounds how many earlier messages are looked at.
const mostLooked = 64

// posted returns the Enter of the call that sends a message.
func (r *run) posted(m *trace.Recv) (enter int64, known bool) {
	if m.State != trace.Matched {
		return 0, false
	}
	s := r.t.Sends[m.SendLoc].Ptr(int(m.Send))
	if s.Call == trace.None || int(s.Call) >= r.calls(m.SendLoc) {
		return 0, false
	}
	return r.t.Calls[m.SendLoc].Ptr(int(s.Call)).Enter, true
}

// An arrival is a message on its way to a receiver: sent at a time, and for how long it occupies the way.
type arrival struct{ sent, occupies int64 }

// queued returns how long message k, which call c of location l completes, stood behind messages that were sent before it: those
// that c completes too, and earlier ones of its channel that are not there when it is sent. Each occupies the way into the receiver for
// as long as its bytes need, in the order of sending.
func (r *run) queued(l trace.LocationID, c *call, k uint32) int64 {
	m := r.t.Recvs[l].Ptr(int(k))
	sent, known := r.posted(m)
	if !known {
		return 0
	}
	r.arrivals = r.arrivals[:0]
	add := func(o *trace.Recv) {
		if enter, known := r.posted(o); known && enter < sent {
			_, grows := r.costs.law(l, o.SendLoc).at(o.Bytes)
			r.arrivals = append(r.arrivals, arrival{enter, int64(math.Round(min(r.costs.most, grows)))})
		}
	}
	first := max(c.firstRecv, c.endRecv-maxQueue)
	for i := first; i < c.endRecv; i++ {
		if o := r.t.Recvs[l].Ptr(i); o.Call == c.row && uint32(i) != k {
			add(o)
		}
	}
	sends := r.t.Sends[m.SendLoc]
	for i := int(m.Send) - 1; i >= max(0, int(m.Send)-mostLooked); i-- {
		s := sends.Ptr(i)
		if s.State != trace.Matched || s.RecvLoc != l {
			continue
		}
		o := r.t.Recvs[l].Ptr(int(s.Recv))
		if o.Call == trace.None || int(o.Call) >= r.calls(l) {
			continue
		}
		ends := r.t.Calls[l].Ptr(int(o.Call)).Leave
		if ends <= sent {
			break // earlier ones of the channel arrived before
		}
		if o.Call != c.row {
			add(o)
		}
	}
	slices.SortFunc(r.arrivals, func(a, b arrival) int {
		return cmp.Or(cmp.Compare(a.sent, b.sent), cmp.Compare(a.occupies, b.occupies))
	})
	var until int64
	for i, a := range r.arrivals {
		if i == 0 {
			until = a.sent
		}
		until = max(until, a.sent) + a.occupies
	}
	return max(0, until-sent)
}

// maxQueue bounds how many messages of a call are looked at.
const maxQueue = 1 << 12
