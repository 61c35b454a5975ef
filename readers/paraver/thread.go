package paraver

import (
	"tracekit/readers/internal/spool"
	"tracekit/trace"
)

// A thread puts what the lines say about one thread of the program into three streams of the
// spool: events, endpoints of messages, states. The records have the form of the model's
// events with meanings of their own:
//
//	Enter, CallingContextEnter  as in the model
//	bareEnter                   as Enter, of a collective of which nothing is said; if it is
//	                            the innermost region already, its leave: traces from before
//	                            2005 repeat the value of MPI_Reduce where they should have 0
//	Leave                       Region is the slot that is left
//	MpiCollectiveBegin          all that is known of the collective; Root is 1 at the root
//	MpiSend                     Time is logS, Request phyS, Peer the receiving task
//	MpiRecv                     Time is logR, Request phyR, Peer the sending task
//	Enter (of states)           with one attribute: the end
//
// All others are final. The streams are nil until a line speaks of the thread.
type thread struct {
	location trace.LocationID
	task     uint32 // world rank
	events   *spool.Stream
	messages *spool.Stream
	states   *spool.Stream
	last     int64  // time of the latest line
	calls    bool   // it has regions, so states are not needed
	stated   uint64 // lines of states
	kept     uint64 // of them, in the stream
	flushing bool
	flush    int64 // when the flush that goes on began
	working  bool  // in one of the tasks that threads run
	began    int64 // when that began
	held     held
	rooted   rootedCalls

	// Of a block's thread, which does not know what is held before the block:
	fresh bool  // no event line so far
	begin int64 // time of the first event line
	timed bool  // there is a line with a time
	first int64 // the first of these times
}

// The numbers of a thread's streams in the spool are threadStreams times its location and
// these.
const (
	messageStream = 1
	stateStream   = 2
	threadStreams = 3
)

const bareEnter = trace.KindCallingContextLeave

// held is the enter of an MPI function of which more may be said by lines of the same time.
type held struct {
	on             bool
	coll           bool // something is said of its part in a collective
	root           bool
	time           int64
	region         trace.RegionID
	context        trace.CallingContextID // None: the caller is not known
	comm           trace.CommID
	sent, received uint64
}

// hold keeps the enter of an MPI function.
func (t *tables) hold(l *thread, time int64, region trace.RegionID) {
	t.release(l)
	l.held = held{on: true, time: time, region: region, context: trace.None, comm: trace.None}
}

// release puts the enter that is held into the stream.
func (t *tables) release(l *thread) {
	h := &l.held
	if !h.on {
		return
	}
	h.on = false
	f := t.names.classes[h.region]
	switch {
	case h.context == trace.None && !h.coll && !t.dialect && f.Class == trace.ClassColl:
		l.events.AddFlow(h.time, bareEnter, h.region)
	case h.context == trace.None:
		l.events.AddFlow(h.time, trace.KindEnter, h.region)
	default:
		l.events.AddContext(h.time, trace.KindCallingContextEnter, h.region, h.context, 1)
	}
	if !h.coll || f.Class != trace.ClassColl && f.Class != trace.ClassIcoll {
		return
	}
	row := trace.CollRow{Time: h.time, Kind: trace.KindCollectiveBegin, Op: f.Op, Comm: h.comm,
		Sent: h.sent, Received: h.received}
	if f.Op.Pattern().Rooted() && h.comm != trace.None {
		if h.root {
			row.Root = 1
		}
		l.rooted.add(h.comm, h.root)
	}
	l.events.AddColl(row)
}

// fits reports whether a block's thread says what it would say if it had known the state of
// this thread: the enter that is held here is complete, and times go on.
func (l *thread) fits(n *thread, dialect bool) bool {
	again := !n.fresh && l.held.on && l.held.time == n.begin && !dialect
	return !again && (!n.timed || n.first >= l.last)
}

// join adds what a block's thread says, which fits.
func (t *tables) join(l, n *thread) {
	if !n.fresh {
		t.release(l)
		l.held = n.held
	}
	l.events.Append(n.events)
	l.messages.Append(n.messages)
	if !l.calls {
		l.states.Append(n.states)
	}
	l.calls = l.calls || n.calls
	l.stated, l.kept = l.stated+n.stated, l.kept+n.kept
	l.last = max(l.last, n.last)
	l.rooted.join(&n.rooted)
}
