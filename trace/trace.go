package trace

import (
	"cmp"
	"math"
	"slices"

	"tracekit/spill"
)

// A Trace is a trace whose locations have been reconciled: what merge makes of a Source
// and what every analysis reads. All times in it are corrected ticks.
//
// Rows refer to each other by location and index: Calls[l], Sends[l], Recvs[l] and Parts[l]
// belong to location l.
type Trace struct {
	Source Source
	Defs   *Defs
	Tree   *CallTree
	Store  *spill.Store // of all tables below

	World []LocationID // location of each rank's master thread
	Rank  []uint32     // world rank of each location; None outside MPI
	Span  []Span       // by location

	Calls       []*spill.Table[Call]
	Sends       []*spill.Table[Send]
	Recvs       []*spill.Table[Recv]
	Parts       []*spill.Table[Part]
	Collectives *spill.Table[Collective]
	Members     *spill.Table[Member]

	Clock    Clock
	Coverage Coverage
	Findings []Finding // of the source and of merging
}

// Missing tells, by world rank, which ranks have no event in the trace: those that were not
// recorded, or whose files are not there. If no rank has one, none is missing.
func (t *Trace) Missing() []bool {
	missing, some := make([]bool, len(t.World)), false
	for r := range missing {
		missing[r] = true
	}
	for l, r := range t.Rank {
		if int(r) < len(missing) && t.Span[l].Events > 0 {
			missing[r], some = false, true
		}
	}
	if !some {
		clear(missing)
	}
	return missing
}

// Sized reports whether any record tells what a member of a collective sends or receives. Some recorders tell no sizes (PyTorch's profiler
// without record_shapes, of gloo): then 0 bytes do not say that nothing is transferred.
func (t *Trace) Sized() bool {
	for _, rows := range t.Members.Rows {
		if slices.ContainsFunc(rows, func(m Member) bool { return m.Sent|m.Received != 0 }) {
			return true
		}
	}
	return false
}

// Communicates reports whether any location sends, receives or takes part in a collective.
func (t *Trace) Communicates() bool {
	for l := range t.Calls {
		if t.Sends[l].Len() > 0 || t.Recvs[l].Len() > 0 || t.Parts[l].Len() > 0 {
			return true
		}
	}
	return false
}

// Release gives the tables back; what else a trace holds stays valid.
func (t *Trace) Release() {
	for l := range t.Calls {
		t.Calls[l].Release()
		t.Sends[l].Release()
		t.Recvs[l].Release()
		t.Parts[l].Release()
	}
	t.Collectives.Release()
	t.Members.Release()
}

// A Span is the time from the first to the last event of a location. Events is 0 if it
// has none.
type Span struct {
	First, Last int64
	Events      uint64
	Open        bool // regions that are entered are not left at Last
}

// A Call is one call of an MPI function that communicates, starts or completes a request,
// synchronises, or probes. Calls that do nothing of the kind (MPI_Comm_rank, an
// unsuccessful MPI_Test) have no row. Calls of a location are in order of Enter.
//
//	Enter <= Leave
//	the sends that the call posts are Sends[FirstSend:next call's FirstSend]
//	the receives that the call completes are Recvs[FirstRecv:next call's FirstRecv]
type Call struct {
	Event        // its Enter
	Class        CallClass
	Open         bool // never left; Leave is the location's last event
	Enter, Leave int64
	Path         PathID // of the MPI function, in Trace.Tree: CallTree.Region tells which that is
	FirstSend    uint32
	FirstRecv    uint32
	Coll         uint32 // row in Collectives that the call takes part in or completes; None
}

// An Event is the sequence number of an event at its location. It takes 6 bytes, so that other small numbers of a row have room beside
// it: more events than these can count lie in no stream of bytes.
type Event [3]uint16

// EventAt returns the event with a sequence number.
func EventAt(seq uint64) Event { return Event{uint16(seq), uint16(seq >> 16), uint16(seq >> 32)} }

// Seq returns the sequence number.
func (e Event) Seq() uint64 { return uint64(e[0]) | uint64(e[1])<<16 | uint64(e[2])<<32 }

// Holds reports whether a row of sends or receives, of which there are rows, lies among those of
// a call: they begin with first(call) and end before first(call+1).
func Holds(calls *spill.Table[Call], call uint32, row, rows int, first func(Call) uint32) bool {
	end := rows
	if int(call)+1 < calls.Len() {
		end = int(first(calls.At(int(call) + 1)))
	}
	return int(first(calls.At(int(call)))) <= row && row < end
}

// A Send is a message as its sender knows it. Sends of a location are in order of their
// send record, which is the order of posting.
type Send struct {
	Event   // the send record
	State   MessageState
	Time    int64 // of the send record
	Bytes   uint64
	Comm    CommID
	Tag     uint32
	Call    uint32     // that posted it; None: recorded outside any call
	Done    uint32     // call that completed it (= Call if blocking); None: none recorded
	RecvLoc LocationID // with Recv: the matching row, if the state is Matched; else as a number what To returns
	Recv    uint32     // None: unmatched
}

// To returns the world rank of the receiver, None if it is not resolved. It takes the ranks of locations: Trace.Rank.
func (s *Send) To(ranks []uint32) uint32 {
	if s.State == Matched {
		return ranks[s.RecvLoc]
	}
	return uint32(s.RecvLoc)
}

// A Recv is a message as its receiver knows it. Recvs of a location are in order of their
// receive record, which is the order of completion.
type Recv struct {
	Event   // the receive record
	State   MessageState
	PostSeq uint64 // of the record that posted it (= Seq if blocking)
	Time    int64  // of the receive record
	Bytes   uint64
	Comm    CommID
	Tag     uint32
	Call    uint32     // that completed it; None: recorded outside any call
	Post    uint32     // call that posted it (= Call if blocking); None: none recorded
	SendLoc LocationID // with Send: the matching row, if the state is Matched; else as a number what From returns
	Send    uint32     // None: unmatched
}

// From returns the world rank of the sender, None if it is not resolved. It takes the ranks of locations: Trace.Rank.
func (r *Recv) From(ranks []uint32) uint32 {
	if r.State == Matched {
		return ranks[r.SendLoc]
	}
	return uint32(r.SendLoc)
}

// A MessageState says what became of a send or a receive.
type MessageState uint8

// The states.
const (
	Unmatched MessageState = iota // no partner is recorded
	Matched                       // SendLoc/Send or RecvLoc/Recv name the partner
	Cancelled                     // the program cancelled it
	Unusable                      // communicator or rank cannot be resolved
)

// A Collective is one instance of a collective operation; its members are
// Members[First:First+Count], in order of rank in the communicator.
type Collective struct {
	First    uint32
	Count    uint32
	Comm     CommID
	Root     uint32 // rank in the communicator, or RootNone …
	Size     uint32 // of the communicator; Count < Size: some ranks are missing
	Op       CollectiveOp
	Mismatch bool // members disagree about operation or root
}

// Together reports whether nobody ends a collective before the last of its members has begun it.
func (t *Trace) Together(c *Collective) bool {
	last, first := int64(math.MinInt64), int64(math.MaxInt64)
	for k := c.First; k < c.First+c.Count; k++ {
		m := t.Members.Ptr(int(k))
		last, first = max(last, m.Begin), min(first, m.End)
	}
	return last <= first
}

// A Member is one rank's part in a collective. Of a blocking operation Call and Done are
// the same; of a non-blocking one Call starts and Done completes it.
//
// Begin and End are the times of the records that begin and end the part, which lie within
// its calls. Of a non-blocking operation Begin is the Enter of Call: the record of its
// request may follow when others need not wait any more.
//
//	Begin <= End
type Member struct {
	Begin, End     int64
	Sent, Received uint64
	Location       LocationID
	Rank           uint32 // in the communicator
	Call           uint32
	Done           uint32 // None: no completion recorded
}

// A Part is a location's part in a collective: the rows of the instance and of the member.
// Parts of a location are in order of their begin.
type Part struct {
	Collective, Member uint32
}

// Coverage says how much of the recorded data entered the analysis.
type Coverage struct {
	EventsRead         uint64
	EventsSkipped      uint64 // could not be used: see the findings
	LocationsTruncated uint32
}

// A ClockMethod says how times were corrected.
type ClockMethod string

// The clock methods.
const (
	ClockNone        ClockMethod = "none"
	ClockOffsets     ClockMethod = "offsets"
	ClockCLC         ClockMethod = "clc"
	ClockOffsetsCLC  ClockMethod = "offsets+clc"
	ClockTogether    ClockMethod = "collectives"
	ClockTogetherCLC ClockMethod = "collectives+clc"
)

// A Clock says what was done about the clocks, and holds the maps that do it.
type Clock struct {
	Method      ClockMethod
	Messages    Violations
	Collectives Violations
	MinLatency  int64      // ticks between what must follow each other, for it to be no violation
	MaxShift    int64      // largest shift by the logical clock, in ticks
	Maps        []ClockMap // by location: raw to corrected time
	Alignment   *Alignment // nil: clocks were not found by what happens together
}

// An Alignment says how clocks were found by what happens together. Times are in ticks.
//
//	Bounds[l] is by how much the clock of location l may still differ from the first one
type Alignment struct {
	Clocks    int
	Unlinked  int // that nothing links to the first one
	MaxOffset int64
	MaxDrift  float64 // parts per million
	MaxBound  int64
	Before    uint64 // what runs backwards without them: messages, collectives, and operations of steps of training
	Left      uint64 // what still does with them, before the logical clock
	Bounds    []int64
}

// Violations counts what runs backwards in time: messages whose receive record lies strictly before their send record; collectives in which
// a member's part ends before another's, which must come first, has begun. With a least latency, what comes less than that behind counts as
// well.
type Violations struct {
	Raw     uint64 // as recorded
	Offsets uint64 // with the measured offsets
	After   uint64 // with the correction in force
	Max     int64  // largest violation before the logical clock, in ticks
}

// Order returns the place of each location in an order that does not depend on that of their definitions: by rank, the master first, then
// by name. Ties are broken by it.
func (t *Trace) Order() []uint32 {
	sorted := make([]LocationID, len(t.Rank))
	for l := range sorted {
		sorted[l] = LocationID(l)
	}
	worker := func(l LocationID) int {
		if r := t.Rank[l]; int(r) < len(t.World) && t.World[r] == l {
			return 0
		}
		return 1
	}
	slices.SortStableFunc(sorted, func(a, b LocationID) int {
		return cmp.Or(cmp.Compare(t.Rank[a], t.Rank[b]), cmp.Compare(worker(a), worker(b)),
			cmp.Compare(t.Defs.String(t.Defs.Locations[a].Name), t.Defs.String(t.Defs.Locations[b].Name)))
	})
	out := make([]uint32, len(sorted))
	for i, l := range sorted {
		out[l] = uint32(i)
	}
	return out
}

// CutTime returns two times of a location in ticks: that of its calls of which the Enter is cut, and that from its first event to its last.
// Calls that a cut call encloses are left out.
func (t *Trace) CutTime(l LocationID, cut func(seq uint64) bool) (time, whole int64) {
	until := int64(math.MinInt64) // the end of a call that is cut
	for _, rows := range t.Calls[l].Rows {
		for i := range rows {
			if c := &rows[i]; c.Leave > until && cut(c.Seq()) {
				time += c.Leave - max(c.Enter, until)
				until = c.Leave
			}
		}
	}
	return time, t.Span[l].Last - t.Span[l].First
}
