package paraver

import (
	"container/heap"

	"tracekit/trace"
)

// An endpoint is the begin of a send or a receive: its event without the kind, and when
// it ends.
type endpoint struct {
	row trace.P2PRow
	end int64
}

// A receive is posted and not completed. Where it is kept says what completes it: those in
// assembler.blocking end with the call that posted them, those in nonblocking with the first
// wait or test that ends when they are done, those in loose at that time.
type receive struct {
	row   trace.P2PRow
	done  int64  // phyR, in ticks, but not before it was posted
	order uint64 // of posting
	depth int    // of the visit of the call that blocks
}

// A receiveHeap has the receive that is completed first on top.
type receiveHeap []receive

func (h receiveHeap) Len() int { return len(h) }
func (h receiveHeap) Less(i, j int) bool {
	return h[i].done < h[j].done || h[i].done == h[j].done && h[i].order < h[j].order
}
func (h receiveHeap) Swap(i, j int) { h[i], h[j] = h[j], h[i] }

// Push implements heap.Interface.
func (h *receiveHeap) Push(x any) { *h = append(*h, x.(receive)) }

// Pop implements heap.Interface.
func (h *receiveHeap) Pop() any {
	n := len(*h) - 1
	x := (*h)[n]
	*h = (*h)[:n]
	return x
}

// A request is a non-blocking send or collective that is not completed.
type request struct {
	id   uint64
	coll trace.CollRow // Kind is 0 for a send
}

// endpoint takes a record of the stream of messages.
func (a *assembler) endpoint(p *trace.P2P, i int) {
	a.at = p.Time[i]
	e := endpoint{end: int64(p.Request[i]), row: trace.P2PRow{Time: p.Time[i], Peer: a.peer(p.Comm[i], p.Peer[i]),
		Comm: p.Comm[i], Tag: p.Tag[i], Bytes: p.Bytes[i]}}
	if p.Kind[i] == trace.KindMpiSend {
		a.sends = append(a.sends, e)
	} else {
		a.posts = append(a.posts, e)
	}
}

// peer returns the rank of a task in the communicator that comms.between made or found for its
// messages: its number within the application, or among all tasks.
func (a *assembler) peer(c trace.CommID, task uint32) uint32 {
	l := &a.source.comms.list[c]
	if l.all {
		return task
	}
	return task - a.source.comms.appls[l.appl].tasks[0].rank
}

// attach gives a call that was entered now what it begins: most functions begin one
// operation, MPI_Startall any number. The format does not say which call a message belongs to;
// but logS and logR are the very times at which their calls were entered.
func (a *assembler) attach(at int) {
	sends, posts := 0, 0
	switch a.visits[at].class {
	case trace.ClassSend, trace.ClassBsend, trace.ClassIsend:
		sends = 1
	case trace.ClassRecv, trace.ClassIrecv:
		posts = 1
	case trace.ClassSendrecv:
		sends, posts = 1, 1
	case trace.ClassStart:
		sends, posts = len(a.sends), len(a.posts)
	}
	sends, posts = min(sends, len(a.sends)), min(posts, len(a.posts))
	for _, e := range a.posts[:posts] {
		a.post(e, at)
	}
	for _, e := range a.sends[:sends] {
		a.send(e, at)
	}
	a.sends, a.posts = a.sends[:copy(a.sends, a.sends[sends:])], a.posts[:copy(a.posts, a.posts[posts:])]
}

// postLate gives a call that posts receives what is posted at its end, where Extrae puts
// MPI_Irecv, unless it has got something at its begin.
func (a *assembler) postLate(at int) {
	f := &a.visits[at]
	if len(a.posts) == 0 || f.posted || f.class != trace.ClassIrecv && f.class != trace.ClassStart {
		return
	}
	n := 1
	if f.class == trace.ClassStart {
		n = len(a.posts)
	}
	for _, e := range a.posts[:n] {
		a.post(e, at)
	}
	a.posts = a.posts[:copy(a.posts, a.posts[n:])]
}

// noVisit stands for a visit where no call is open.
const noVisit = -1

// strand gives what no call was entered for to the call that is open, if any.
func (a *assembler) strand() {
	at := noVisit
	if n := len(a.calls); n > 0 {
		at = a.calls[n-1]
	}
	for _, e := range a.posts {
		a.post(e, at)
	}
	for _, e := range a.sends {
		a.send(e, at)
	}
	a.sends, a.posts = a.sends[:0], a.posts[:0]
}

// moment returns the time of an event that should be at t.
func (a *assembler) moment(t int64) int64 {
	a.last = max(a.last, t)
	return a.last
}

// class returns the class of a visit.
func (a *assembler) class(at int) trace.CallClass {
	if at == noVisit {
		return trace.ClassNone
	}
	return a.visits[at].class
}

// send adds the event of a send in the call of a visit.
func (a *assembler) send(e endpoint, at int) {
	e.row.Kind, e.row.Time = trace.KindMpiSend, a.moment(e.row.Time)
	if c := a.class(at); c == trace.ClassIsend || c == trace.ClassStart {
		e.row.Kind, e.row.Request = trace.KindMpiIsend, a.newRequest()
		a.request(request{id: e.row.Request})
	}
	a.out.AddP2P(e.row)
}

// post begins a receive in the call of a visit.
func (a *assembler) post(e endpoint, at int) {
	a.lastPost++
	r := receive{row: e.row, done: max(e.end, e.row.Time), order: a.lastPost}
	if at == noVisit {
		heap.Push(&a.loose, r)
		return
	}
	f := &a.visits[at]
	f.posted = true
	switch f.class {
	case trace.ClassRecv, trace.ClassSendrecv:
		r.depth = at
		f.blocks = true
		a.blocking = append(a.blocking, r)
	default:
		r.row.Request = a.newRequest()
		a.out.AddRequest(a.moment(e.row.Time), trace.KindMpiIrecvRequest, r.row.Request)
		heap.Push(&a.nonblocking, r)
	}
}

// newRequest numbers requests from 1, since the format has none.
func (a *assembler) newRequest() uint64 {
	a.lastRequest++
	return a.lastRequest
}

// receiveLoose adds the receives outside of any call that are completed at time t.
func (a *assembler) receiveLoose(t int64) {
	for len(a.loose) > 0 && a.loose[0].done <= t {
		r := heap.Pop(&a.loose).(receive)
		a.receive(r, trace.KindMpiRecv, t)
	}
}

// receive adds the event of a receive, at the latest at time t.
func (a *assembler) receive(r receive, kind trace.Kind, t int64) {
	r.row.Kind, r.row.Time = kind, a.moment(min(r.done, t))
	a.out.AddP2P(r.row)
}

// complete adds what ends with a call that is left at time t.
func (a *assembler) complete(f *visit, t int64) {
	if f.enter > a.last {
		a.last = f.enter
	}
	if f.blocks {
		depth, n := len(a.visits)-1, len(a.blocking)
		for n > 0 && a.blocking[n-1].depth == depth {
			n--
		}
		for _, r := range a.blocking[n:] {
			a.receive(r, trace.KindMpiRecv, t)
		}
		a.blocking = a.blocking[:n]
	}
	switch f.class {
	case trace.ClassWait, trace.ClassTest, trace.ClassFinalize:
	default:
		return
	}
	received := false
	for len(a.nonblocking) > 0 && a.nonblocking[0].done <= t {
		a.receive(heap.Pop(&a.nonblocking).(receive), trace.KindMpiIrecv, t)
		received = true
	}
	a.completeRequests(f, t, received)
}
