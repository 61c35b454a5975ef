package headers

import (
	"context"

	"tracekit/document/waitstate"
	"tracekit/stats/causal"
	"tracekit/stats/profile"
	"tracekit/stats/waits"
	"tracekit/trace"
)

// A call is what a call of MPI does with messages.
type call struct {
	*trace.Call
	row                  uint32
	firstRecv, endRecv   int    // rows of the receives that it completes
	sent                 uint64 // bytes of what it posts
	received             uint64 // bytes of what it completes
	sends                int
	ownTime, waitingTime int64 // as far as they are selected
}

// run is what all stages read.
type run struct {
	t        *trace.Trace
	waits    waits.ByCall
	segments []*profile.Segments
	metrics  *metrics
	costs    *costs
	windowed bool // a part of the run is selected
	schedule *causal.Schedule

	inside     inside
	progresses *progresses
	nodes      []trace.SystemTreeNodeID // by location; None: no node of the system tree is known to be its machine
	arrivals   []arrival                // scratch
}

// A place is a call of a location.
type place struct {
	location trace.LocationID
	call     uint32
}

// visit visits the calls of all locations in causal order: each location runs until a call of it needs another one
// that was not entered yet. Where nobody can go on, all who are left do without what they wait for.
func (r *run) visit(ctx context.Context, v causal.Visitor) (err error) {
	r.schedule = causal.New(v, len(r.t.Calls))
	for l := range r.t.Calls {
		r.schedule.Start(trace.LocationID(l), r.calls(trace.LocationID(l)), nil, 0)
	}
	for more := true; more && err == nil; {
		if err = r.schedule.Run(ctx); err == nil {
			more, err = r.schedule.Force()
		}
	}
	return err
}

// calls returns the number of calls of a location: 0 if it is no part of the run.
func (r *run) calls(l trace.LocationID) int {
	if r.segments[l].Len() != r.t.Calls[l].Len() {
		return 0
	}
	return r.t.Calls[l].Len()
}

// call returns a call of a location.
func (r *run) call(l trace.LocationID, row int) call {
	calls, sends, recvs := r.t.Calls[l], r.t.Sends[l], r.t.Recvs[l]
	c := call{Call: calls.Ptr(row), row: uint32(row), endRecv: recvs.Len()}
	c.firstRecv = int(c.FirstRecv)
	endSend := sends.Len()
	if row+1 < calls.Len() {
		next := calls.Ptr(row + 1)
		endSend, c.endRecv = int(next.FirstSend), int(next.FirstRecv)
	}
	for k := int(c.FirstSend); k < endSend; k++ {
		if s := sends.Ptr(k); s.Call == c.row {
			c.sends++
			c.sent += s.Bytes
		}
	}
	for k := c.firstRecv; k < c.endRecv; k++ {
		if m := recvs.Ptr(k); m.Call == c.row && m.State == trace.Matched {
			c.received += m.Bytes
		}
	}
	c.ownTime, c.waitingTime = r.segments[l].Own(c.row).Time, r.segments[l].Wait(c.row)
	return c
}

// outside reports whether a call lies outside the selected part of the run.
func (r *run) outside(c *call) bool { return r.windowed && c.ownTime+c.waitingTime == 0 }

// receives reports whether the call completes receives.
func (c *call) receives() bool { return c.endRecv > c.firstRecv }

// tag returns the metric of what a call takes by itself.
func (c *call) tag() uint8 {
	switch {
	case c.Class == trace.ClassInit || c.Class == trace.ClassFinalize:
		return tagStartup
	case c.Coll != trace.None:
		return tagCollective
	case c.receives():
		return tagReceive
	}
	switch c.Class {
	case trace.ClassSend, trace.ClassBsend, trace.ClassIsend, trace.ClassWait:
		return tagSend // a wait that completes no receive completes sends
	case trace.ClassRecv, trace.ClassIrecv, trace.ClassSendrecv, trace.ClassProbe, trace.ClassTest:
		return tagReceive
	case trace.ClassStart:
		if c.sends > 0 {
			return tagSend
		}
		return tagReceive
	case trace.ClassColl, trace.ClassIcoll:
		return tagCollective
	}
	return tagMPI
}

// merges reports whether a rank merges summaries at the end of the call, even if it does not wait.
func (c *call) merges() bool {
	tag := c.tag()
	return c.receives() || tag == tagCollective && c.Class != trace.ClassIcoll || tag == tagStartup
}

// bytes returns those of a metric's side of the call.
func (c *call) bytes(tag uint8) uint64 {
	if tag == tagSend {
		return c.sent
	}
	return c.received
}

// cause returns the wait of a call if it is known who causes it.
func (r *run) cause(l trace.LocationID, c *call) (waits.Wait, bool) {
	if c.waitingTime == 0 {
		return waits.Wait{}, false
	}
	w := r.waits[l].At(int(c.row))
	return w, w.Call != trace.None && int(w.Call) < r.calls(w.Location)
}

// message returns the bytes of the message that a wait is for; ok is false if it is not one
// message.
func (r *run) message(l trace.LocationID, w waits.Wait) (bytes uint64, ok bool) {
	k := r.waits[l].Message(&w)
	switch {
	case k == trace.None:
		return 0, false
	case w.Kind == waitstate.LateSender:
		return r.t.Recvs[l].Ptr(int(k)).Bytes, true
	}
	return r.t.Sends[l].Ptr(int(k)).Bytes, true
}

// hosted divides the time of a call as its host knows it.
func (r *run) hosted(l trace.LocationID, c *call) own {
	var underway int64
	for k := c.firstRecv; k < c.endRecv && c.waitingTime == 0; k++ {
		m := r.t.Recvs[l].Ptr(k)
		if m.State != trace.Matched || m.Call != c.row {
			continue
		}
		s := r.t.Sends[m.SendLoc].Ptr(int(m.Send))
		if s.Call == trace.None {
			continue
		}
		sender := r.t.Calls[m.SendLoc].Ptr(int(s.Call))
		wire, copying := r.costs.transfer(l, c.Class, m.SendLoc, sender.Class, m.Bytes)
		underway = max(underway, sender.Enter+wire+copying-c.Enter)
	}
	return r.costs.hosted(c, underway)
}

// add adds the parts of a call by tag.
func (o *own) add(to func(tag uint8, time int64)) {
	to(o.tag, o.rest)
	to(tagCopy, o.copying)
	to(tagWait, o.waiting)
	to(tagWire, o.underway)
}
