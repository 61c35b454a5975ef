package samples

import "tracekit/trace"

// An op is an operation of a rank: a computation or a call of an MPI function.
type op struct {
	kind   opKind
	region trace.RegionID // that is entered and left
	ticks  int64          // of a computation
	send   envelope       // of calls that send
	recv   envelope       // of calls that receive; with wildcards
	req    int32          // the program's number of the request that the call starts
	reqs   []int32        // those that it waits for
	coll   collective
	hidden bool // not recorded
}

// An opKind says what an operation does.
type opKind uint8

const (
	opCompute  opKind = iota // in a region of its own
	opEnter                  // enters a user's region
	opLeave                  // leaves it
	opSend                   // blocking; waits for the receiver if the message is large
	opSsend                  // always waits for the receiver
	opBsend                  // never does
	opIsend                  //
	opRecv                   //
	opIrecv                  //
	opSendrecv               //
	opProbe                  //
	opWait                   // for all of reqs
	opWaitany                // for one of reqs
	opTest                   // completes the first of reqs if that is possible now
	opCancel                 // cancels the first of reqs, which must be a receive
	opColl                   //
	opIcoll                  //
	opFork                   // threads compute in a parallel region
)

// Wildcards of receives.
const (
	anySource = -1
	anyTag    = -1
)

// An envelope names a message: peer is a rank in the communicator.
type envelope struct {
	peer, tag int
	comm      trace.CommID
	bytes     int64
}

// A collective says what a rank brings to a collective operation.
type collective struct {
	op             trace.CollectiveOp
	comm           trace.CommID
	root           int    // number of the member
	rootAs         uint32 // how the root is recorded, if not by its rank
	sent, received int64
}

// The regions that every generated trace defines, in this order.
const (
	regionMain trace.RegionID = iota
	regionCompute
	regionParallel
	regionEpisode
	regionInit
	regionFinalize
	regionSend
	regionSsend
	regionBsend
	regionIsend
	regionRecv
	regionIrecv
	regionSendrecv
	regionProbe
	regionWait
	regionWaitall
	regionWaitany
	regionTest
	regionCancel
	regionStart
	regionColl // + trace.CollectiveOp
)

// regionIcoll is the region of a non-blocking collective: + trace.CollectiveOp.
const regionIcoll = regionColl + trace.RegionID(trace.CollReduceScatterBlock) + 1

// regionUser is the first of a program's own regions.
const regionUser = regionIcoll + trace.RegionID(trace.CollReduceScatterBlock) + 1

var mpiNames = [...]string{"MPI_Init", "MPI_Finalize", "MPI_Send", "MPI_Ssend", "MPI_Bsend", "MPI_Isend", "MPI_Recv", "MPI_Irecv",
	"MPI_Sendrecv", "MPI_Probe", "MPI_Wait", "MPI_Waitall", "MPI_Waitany", "MPI_Test", "MPI_Cancel", "MPI_Start"}

// A script collects the operations of one rank.
type script struct {
	ops  []op
	rank int
	next int32 // request
}

func (s *script) add(o op) { s.ops = append(s.ops, o) }

func (s *script) compute(region trace.RegionID, ticks int64) {
	s.add(op{kind: opCompute, region: region, ticks: ticks})
}

// fork computes in all threads; without threads it is a computation.
func (s *script) fork(region trace.RegionID, ticks int64) {
	s.add(op{kind: opFork, region: region, ticks: ticks})
}

func (s *script) enter(region trace.RegionID) { s.add(op{kind: opEnter, region: region}) }
func (s *script) leave(region trace.RegionID) { s.add(op{kind: opLeave, region: region}) }

func (s *script) send(e envelope)  { s.add(op{kind: opSend, region: regionSend, send: e}) }
func (s *script) ssend(e envelope) { s.add(op{kind: opSsend, region: regionSsend, send: e}) }
func (s *script) bsend(e envelope) { s.add(op{kind: opBsend, region: regionBsend, send: e}) }
func (s *script) recv(e envelope)  { s.add(op{kind: opRecv, region: regionRecv, recv: e}) }
func (s *script) probe(e envelope) { s.add(op{kind: opProbe, region: regionProbe, recv: e}) }

func (s *script) sendrecv(send, recv envelope) {
	s.add(op{kind: opSendrecv, region: regionSendrecv, send: send, recv: recv})
}

// request returns a new number.
func (s *script) request() int32 { s.next++; return s.next }

func (s *script) isend(e envelope) int32 {
	r := s.request()
	s.add(op{kind: opIsend, region: regionIsend, send: e, req: r})
	return r
}

func (s *script) irecv(e envelope) int32 {
	r := s.request()
	s.add(op{kind: opIrecv, region: regionIrecv, recv: e, req: r})
	return r
}

func (s *script) wait(req int32) { s.add(op{kind: opWait, region: regionWait, reqs: []int32{req}}) }

func (s *script) waitall(reqs ...int32) {
	s.add(op{kind: opWait, region: regionWaitall, reqs: append([]int32(nil), reqs...)})
}

func (s *script) waitany(reqs ...int32) {
	s.add(op{kind: opWaitany, region: regionWaitany, reqs: append([]int32(nil), reqs...)})
}

func (s *script) test(req int32) { s.add(op{kind: opTest, region: regionTest, reqs: []int32{req}}) }
func (s *script) cancel(req int32) {
	s.add(op{kind: opCancel, region: regionCancel, reqs: []int32{req}})
}

func (s *script) coll(c collective) {
	s.add(op{kind: opColl, region: regionColl + trace.RegionID(c.op), coll: c})
}

func (s *script) icoll(c collective) int32 {
	r := s.request()
	s.add(op{kind: opIcoll, region: regionIcoll + trace.RegionID(c.op), coll: c, req: r})
	return r
}

func (s *script) barrier(comm trace.CommID) { s.coll(collective{op: trace.CollBarrier, comm: comm}) }
