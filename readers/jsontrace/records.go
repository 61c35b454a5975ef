package jsontrace

import "tracekit/trace"

// The records that go into the spool beside events: a slice waits there for its place
// among the others of its track.
//
//	recordSlice  duration (openEnd: not known), region
//	recordCall   duration, region, operation, communicator, root or peer, tag, sent, received
const (
	recordSlice trace.Kind = 240 + iota
	recordCall
)

// openEnd is the duration of a slice whose end is not known.
const openEnd = -1

// The ties of records with equal times: what comes in the order of the file, first;
// then slices, the longest first; then what lies in them.
const (
	tieFile   = -1 << 63
	tieInside = 1
)

// An operation says what a slice communicates: 0, a collective, or a message.
type operation uint8

const (
	opNone operation = 0
	opSend operation = 254
	opRecv operation = 255
)

// collective makes an operation of a collective one.
func collective(op trace.CollectiveOp) operation { return operation(op) + 1 }

// op returns the collective operation.
func (o operation) op() trace.CollectiveOp { return trace.CollectiveOp(o - 1) }

// isMessage reports whether the operation is a send or a receive.
func (o operation) isMessage() bool { return o >= opSend }

// A call is what the arguments of a slice say about its communication.
type call struct {
	operation
	comm           uint32 // index into comms.list
	peer           uint32 // of a message: rank in the communicator; of a collective: the root
	tag            uint32
	sent, received uint64
}

// put stores a slice.
func (l *track) put(time, dur int64, region trace.RegionID, c call) {
	l.stacked = false
	l.latest = max(l.latest, addTime(time, dur))
	l.stream.Tie = -dur
	if dur == openEnd {
		l.stream.Tie = tieFile + 1
	}
	if c.operation == opNone {
		l.stream.AddOther(time, recordSlice, uint64(dur), uint64(region))
		return
	}
	l.comm = true
	l.stream.AddOther(time, recordCall, uint64(dur), uint64(region), uint64(c.operation),
		uint64(c.comm), uint64(c.peer), uint64(c.tag), c.sent, c.received)
}

// record prepares the track for an event that is no slice: it comes behind the slices that
// start at its time, or, among B and E, where it stands in the file.
func (l *track) record() {
	l.stream.Tie = tieInside
	if l.stacked {
		l.stream.Tie = tieFile
	}
}
