package nest

import "tracekit/trace"

// The records that go into the spool beside events: a slice waits there for its place
// among the others of its track.
//
//	recordSlice  region as its field; its tie is minus the duration
//	recordOpen   the same without a known end
//	recordCall   duration (OpenEnd: not known), region, operation, communicator, root or peer, tag, sent, received
const (
	recordSlice trace.Kind = 240 + iota
	recordOpen
	recordCall
)

// OpenEnd is the duration of a slice whose end is not known.
const OpenEnd = -1

// The ties of records with equal times: what comes in the order of the file, first;
// then slices, the longest first; then what lies in them.
const (
	TieFile   = -1 << 63
	tieInside = 1
)

// An Operation says what a slice communicates: nothing, a collective, or a message.
type Operation uint8

// The operations that are no collectives.
const (
	OpNone Operation = 0
	OpSend Operation = 254
	OpRecv Operation = 255

	// OpUnnamed is the operation of a kernel that communicates although its name does not say how.
	OpUnnamed Operation = 253
)

// Collective makes an operation of a collective one.
func Collective(op trace.CollectiveOp) Operation { return Operation(op) + 1 }

// Collective returns the collective operation that o is.
func (o Operation) Collective() trace.CollectiveOp { return trace.CollectiveOp(o - 1) }

// IsMessage reports whether the operation is a send or a receive.
func (o Operation) IsMessage() bool { return o >= OpSend }

// MPIName returns the MPI function that does what an operation does, "" if there is none.
func (o Operation) MPIName() string {
	switch o {
	case OpNone, OpUnnamed:
		return ""
	case OpSend:
		return "MPI_Send"
	case OpRecv:
		return "MPI_Recv"
	}
	return "MPI_" + o.Collective().String()
}

// A Call is what is known of the communication of a slice.
type Call struct {
	Operation
	Comm           uint32 // index into IDs.Comms
	Peer           uint32 // of a message: rank in the communicator; of a collective: the root
	Tag            uint32
	Sent, Received uint64 // bytes
}
