package nest

import (
	"tracekit/readers/internal/spool"
	"tracekit/trace"
)

// A Track is a sequence of slices and other events that becomes a location, or several if
// slices overlap. It is for one goroutine at a time.
type Track struct {
	Number  trace.LocationID // in the set
	GPU     bool             // holds what an accelerator executes, which is never clipped
	Exact   bool             // begin and end are not rounded: nothing is clipped
	Async   bool             // slices may overlap: the longer of two is not preferred
	Flat    bool             // no slice is part of another one
	stacked bool             // the last slice came as begin or end
	Comm    bool             // holds collectives or messages
	Stream  *spool.Stream
	Latest  int64           // the latest end of a slice, if it has slices
	Survey  *Survey         // once the set was surveyed
	Placed  *Placed         // what its slices have in common; nil: nothing
	exile   map[uint64]bool // slices that nest in none of the first sub-track: see nester
}

// Placed are attributes that belong to all slices of a track that have a certain one themselves. A track may learn of them after its
// slices.
type Placed struct {
	With       trace.AttributeID
	Attributes []trace.AttributeID
	Values     []uint64
}

// Put adds a slice with a duration, or OpenEnd.
func (l *Track) Put(time, dur int64, region trace.RegionID, c Call) {
	l.stacked = false
	l.Latest = max(l.Latest, AddTime(time, dur))
	kind := recordSlice
	l.Stream.Tie = -dur
	if dur == OpenEnd {
		kind, l.Stream.Tie = recordOpen, TieFile+1
	}
	if c.Operation == OpNone {
		l.Stream.AddShort(time, kind, uint32(region))
		return
	}
	l.Comm = true
	l.Stream.AddOther(time, recordCall, uint64(dur), uint64(region), uint64(c.Operation),
		uint64(c.Comm), uint64(c.Peer), uint64(c.Tag), c.Sent, c.Received)
}

// Begin adds the begin of a slice that an End ends. Begins and ends at equal times mean what
// their order says.
func (l *Track) Begin(time int64, region trace.RegionID) {
	l.Stream.AddFlow(time, trace.KindEnter, region)
}

// End adds the end of the innermost slice that was begun; of that name, if it is not None.
func (l *Track) End(time int64, name uint32) {
	l.Stream.AddFlow(time, trace.KindLeave, trace.RegionID(name))
}

// Stack prepares the track for a Begin or an End, or for attributes of a Begin.
func (l *Track) Stack() {
	l.stacked = true
	l.Stream.Tie = TieFile
}

// Moment prepares the track for an event that is no slice, or for its attributes: it comes behind the slices that
// start at its time, or, among begins and ends, where it stands in the file.
func (l *Track) Moment() {
	l.Stream.Tie = tieInside
	if l.stacked {
		l.Stream.Tie = TieFile
	}
}
