package oracle

import "tracekit/trace"

// A Send is a send that is recorded.
type Send struct {
	From, To uint32 // world ranks; To is trace.None if it cannot be resolved
	Comm     trace.CommID
	Tag      uint32
	Bytes    uint64
	Seq      uint64
	Time     int64
	Post     *Call // nil: recorded outside any call
	Done     *Call // nil: no completion is recorded
	Recv     *Recv // nil: unmatched
}

// A Recv is a receive that is recorded.
type Recv struct {
	From, To uint32
	Comm     trace.CommID
	Tag      uint32
	Bytes    uint64
	Seq      uint64
	PostSeq  uint64
	PostTime int64
	Time     int64
	Post     *Call
	Done     *Call
	Send     *Send
}

// findMessages lists the sends and the completed receives of all locations.
func (a *analysis) findMessages() {
	for _, s := range a.streams {
		for i, e := range s.events {
			rank := a.rank[s.location]
			peers, _, ok := worldRanks(a.defs, e.comm, rank)
			peer := uint32(trace.None)
			if ok && int(e.peer) < len(peers) {
				peer = peers[e.peer]
			}
			switch e.kind {
			case trace.KindMpiSend, trace.KindMpiIsend:
				m := &Send{From: rank, To: peer, Comm: e.comm, Tag: e.tag, Bytes: e.bytes, Seq: e.seq, Time: e.time,
					Post: s.holder[i], Done: s.holder[i]}
				if e.kind == trace.KindMpiIsend {
					m.Done = nil
					if j := s.following(i, e.request, trace.KindMpiIsendComplete); j >= 0 {
						m.Done = s.holder[j]
					}
				}
				a.Sends = append(a.Sends, m)
				a.sendAt = append(a.sendAt, position{s.location, i})
			case trace.KindMpiRecv, trace.KindMpiIrecv:
				r := &Recv{From: peer, To: rank, Comm: e.comm, Tag: e.tag, Bytes: e.bytes, Seq: e.seq, PostSeq: e.seq,
					PostTime: e.time, Time: e.time, Post: s.holder[i], Done: s.holder[i]}
				post := i
				if e.kind == trace.KindMpiIrecv {
					r.Post = nil
					if j := s.preceding(i, e.request, trace.KindMpiIrecvRequest); j >= 0 {
						r.Post, r.PostSeq, r.PostTime, post = s.holder[j], s.events[j].seq, s.events[j].time, j
					}
				}
				a.Recvs = append(a.Recvs, r)
				a.recvAt = append(a.recvAt, position{s.location, post})
			}
		}
	}
}

// following returns the first event of a kind after event i that names a request, or -1.
func (s *stream) following(i int, request uint64, kind trace.Kind) int {
	for j := i + 1; j < len(s.events); j++ {
		if s.events[j].kind == kind && s.events[j].request == request {
			return j
		}
	}
	return -1
}

// preceding returns the last event of a kind before event i that names a request, or -1.
func (s *stream) preceding(i int, request uint64, kind trace.Kind) int {
	for j := i - 1; j >= 0; j-- {
		if s.events[j].kind == kind && s.events[j].request == request {
			return j
		}
	}
	return -1
}

// A position is an event's place in the streams.
type position struct {
	location trace.LocationID
	index    int
}

// earlier reports whether the event at p comes before that at q on one rank: in the order
// of their location, or of corrected times between threads.
func (a *analysis) earlier(p, q position) bool {
	if p.location == q.location {
		return p.index < q.index
	}
	tp, tq := a.streams[p.location].events[p.index].time, a.streams[q.location].events[q.index].time
	return tp < tq || tp == tq && p.location < q.location
}

// matchMessages pairs the n-th send with the n-th receive of each (sender, receiver,
// communicator, tag), both in the order of posting.
func (a *analysis) matchMessages() {
	same := func(f1, f2, t1, t2 uint32, c1, c2 trace.CommID, g1, g2 uint32) bool {
		return f1 == f2 && t1 == t2 && c1 == c2 && g1 == g2
	}
	for i, s := range a.Sends {
		nth := 0
		for j, o := range a.Sends {
			if same(s.From, o.From, s.To, o.To, s.Comm, o.Comm, s.Tag, o.Tag) && a.earlier(a.sendAt[j], a.sendAt[i]) {
				nth++
			}
		}
		for j, r := range a.Recvs {
			if !same(s.From, r.From, s.To, r.To, s.Comm, r.Comm, s.Tag, r.Tag) || s.To == trace.None {
				continue
			}
			before := 0
			for k, o := range a.Recvs {
				if same(r.From, o.From, r.To, o.To, r.Comm, o.Comm, r.Tag, o.Tag) && a.earlier(a.recvAt[k], a.recvAt[j]) {
					before++
				}
			}
			if before == nth {
				s.Recv, r.Send = r, s
			}
		}
	}
}
