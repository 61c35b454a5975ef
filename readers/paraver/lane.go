package paraver

import (
	"tracekit/readers/internal/spool"
	"tracekit/trace"
)

// A lane takes what the lines say about one thread and puts it into three streams of the
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
type lane struct {
	location trace.LocationID
	task     uint32 // world rank
	events   *spool.Stream
	messages *spool.Stream
	states   *spool.Stream
	last     int64 // time of the latest line
	calls    bool  // it has regions, so states are not needed
	flushing bool
	flush    int64 // when the flush that goes on began
	held     held
	rooted   map[trace.CommID]uint32 // number of collectives with a root so far
}

// The numbers of a lane's streams in the spool are laneStreams times its location and
// these.
const (
	messageStream = 1
	stateStream   = 2
	laneStreams   = 3
)

const bareEnter = trace.KindCallingContextLeave

// held is the enter of an MPI function of which more may be said by lines of the same time.
type held struct {
	on             bool
	coll           bool // something is said of its part in a collective
	root           bool
	time           int64
	region         trace.RegionID
	caller         uint32
	comm           trace.CommID
	sent, received uint64
}

// hold keeps the enter of an MPI function.
func (r *reading) hold(l *lane, t int64, region trace.RegionID) {
	r.release(l)
	l.held = held{on: true, time: t, region: region, caller: trace.None, comm: trace.None}
}

// release puts the enter that is held into the stream.
func (r *reading) release(l *lane) {
	h := &l.held
	if !h.on {
		return
	}
	h.on = false
	f := r.names.classes[h.region]
	switch {
	case h.caller == trace.None && !h.coll && !r.dialect && f.Class == trace.ClassColl:
		l.events.AddFlow(h.time, bareEnter, h.region)
	case h.caller == trace.None:
		l.events.AddFlow(h.time, trace.KindEnter, h.region)
	default:
		context := r.sites.context(contextKey{h.region, h.caller})
		l.events.AddContext(h.time, trace.KindCallingContextEnter, h.region, context, 1)
	}
	if !h.coll || f.Class != trace.ClassColl && f.Class != trace.ClassIcoll {
		return
	}
	row := trace.CollRow{Time: h.time, Kind: trace.KindCollectiveBegin, Op: f.Op, Comm: h.comm,
		Sent: h.sent, Received: h.received}
	if rooted(f.Op) && h.comm != trace.None {
		if h.root {
			row.Root = 1
			r.roots.add(h.comm, l.rooted[h.comm], l.task)
		}
		if l.rooted == nil {
			l.rooted = make(map[trace.CommID]uint32)
		}
		l.rooted[h.comm]++
	}
	l.events.AddColl(row)
}
