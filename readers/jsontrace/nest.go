package jsontrace

import (
	"math"
	"slices"

	"tracekit/trace"
)

// clipLimit is the overhang, in ns, by which a slice may outlast the one that encloses it
// and still count as nested: writers round begin and end separately.
const clipLimit = 1000

// A nester makes enter and leave events of the records of a track. Slices that overlap
// without being nested go to sub-tracks: the first one in which they are nested. A nester
// delivers one sub-track.
//
//	stacks[k] are the open slices of sub-track k, the innermost last
//	in stacks[k] a visit with a known end ends no later than the one below
type nester struct {
	f      *file
	ids    *idMap
	want   int // the sub-track to deliver; -1: none, only count
	stacks [][]visit
	last   []int64  // time of the latest event by sub-track
	events []uint64 // number of events by sub-track
	batch  *trace.Batch
	attrs  []attr // of the record at hand
	count  nestCount
	exile  map[uint64]bool // slices, by their number in the track, that must not go to sub-track 0
	broken []uint64        // slices that could not keep their end because of a B or an E
	slices uint64          // number of complete slices so far
}

// brokenLimit bounds the number of slices of a track that are moved because of a B or an E
// that breaks their nesting; further ones get another end.
const brokenLimit = 1 << 16

// A nestCount says what did not nest.
type nestCount struct {
	overlaps, open, unmatched uint64
}

// A visit is an open slice.
type visit struct {
	end    int64 // unknown: math.MaxInt64
	region trace.RegionID
	began  bool // by B
	number uint64
	call   call
}

type attr struct {
	id    trace.AttributeID
	typ   trace.ValueType
	value uint64
}

const unknownEnd = math.MaxInt64

func newNester(f *file, ids *idMap, want int) *nester {
	return &nester{f: f, ids: ids, want: want, stacks: make([][]visit, 1), last: []int64{math.MinInt64}, events: make([]uint64, 1)}
}

// slice takes a complete slice.
func (n *nester) slice(time, dur int64, region trace.RegionID, c call) {
	end := int64(unknownEnd)
	if dur != openEnd && time <= math.MaxInt64-dur-1 {
		end = time + dur
	}
	n.slices++
	k := 0
	if n.exile[n.slices] {
		k = 1
	}
	for ; ; k++ {
		for k >= len(n.stacks) {
			n.stacks = append(n.stacks, nil)
			n.last = append(n.last, math.MinInt64)
			n.events = append(n.events, 0)
		}
		n.pop(k, time)
		limit := n.limit(k)
		if end <= limit {
			break
		}
		// Begin and end are rounded separately, so a child may seem to outlast its parent.
		if dur == openEnd || end-limit <= clipLimit && time <= limit {
			end = limit
			break
		}
	}
	if k > 0 {
		n.count.overlaps++
	}
	n.enter(k, time, visit{end: end, region: region, number: n.slices, call: c})
}

// limit returns the end of the innermost open slice of a sub-track.
func (n *nester) limit(k int) int64 {
	if s := n.stacks[k]; len(s) > 0 {
		return s[len(s)-1].end
	}
	return unknownEnd
}

// pop leaves the slices of a sub-track that end at or before time.
func (n *nester) pop(k int, time int64) {
	for n.limit(k) <= time && len(n.stacks[k]) > 0 {
		n.leave(k, n.limit(k))
	}
}

// enter opens a slice.
func (n *nester) enter(k int, time int64, fr visit) {
	n.stacks[k] = append(n.stacks[k], fr)
	time = n.advance(k, time, 1)
	if k == n.want { // the other sub-tracks are only gone through
		n.putAttrs()
		n.batch.AddFlow(time, trace.KindEnter, n.ids.region(fr.region))
	}
	if fr.call.operation != opNone {
		n.beginCall(k, time, &fr.call)
	}
}

// leave closes the innermost slice of a sub-track.
func (n *nester) leave(k int, time int64) {
	s := n.stacks[k]
	fr := s[len(s)-1]
	n.stacks[k] = s[:len(s)-1]
	if moved := max(time, n.last[k]) - fr.end; fr.end != unknownEnd && (moved > clipLimit || moved < -clipLimit) && len(n.broken) < brokenLimit {
		n.broken = append(n.broken, fr.number)
	}
	if fr.call.operation != opNone {
		n.endCall(k, time, &fr.call)
	}
	time = n.advance(k, time, 1)
	if k == n.want {
		n.batch.AddFlow(time, trace.KindLeave, n.ids.region(fr.region))
	}
}

// advance counts events and returns their time, which does not decrease in a sub-track.
func (n *nester) advance(k int, time int64, events uint64) int64 {
	n.events[k] += events
	n.last[k] = max(n.last[k], time)
	return addTime(n.last[k], n.f.shift)
}

// addTime adds without overflow.
func addTime(a, b int64) int64 {
	switch s := a + b; {
	case b > 0 && s < a:
		return math.MaxInt64
	case b < 0 && s > a:
		return math.MinInt64
	default:
		return s
	}
}

// beginCall delivers what a communicating slice does at its begin.
func (n *nester) beginCall(k int, time int64, c *call) {
	switch {
	case c.operation == opRecv:
		return
	case n.want != k:
	case c.operation == opSend:
		n.batch.AddP2P(n.message(trace.KindMpiSend, time, c, c.sent))
	default:
		n.batch.AddColl(trace.CollRow{Time: time, Kind: trace.KindCollectiveBegin,
			Comm: trace.None, Root: trace.None})
	}
	n.events[k]++
}

// endCall delivers what a communicating slice does at its end.
func (n *nester) endCall(k int, time int64, c *call) {
	if c.operation == opSend {
		return
	}
	time = n.advance(k, time, 1)
	switch {
	case n.want != k:
	case c.operation == opRecv:
		n.batch.AddP2P(n.message(trace.KindMpiRecv, time, c, c.received))
	default:
		sent, received := n.f.launches.sizes(c)
		n.batch.AddColl(trace.CollRow{Time: time, Kind: trace.KindCollectiveEnd, Op: c.op(),
			Comm: n.ids.comm(c.comm), Root: c.peer, Sent: sent, Received: received})
	}
}

func (n *nester) message(kind trace.Kind, time int64, c *call, bytes uint64) trace.P2PRow {
	return trace.P2PRow{Time: time, Kind: kind, Peer: c.peer, Comm: n.ids.comm(c.comm), Tag: c.tag, Bytes: bytes}
}

// begin takes a B.
func (n *nester) begin(time int64, region trace.RegionID) {
	n.pop(0, time)
	n.enter(0, time, visit{end: unknownEnd, region: region, began: true})
}

// end takes an E; name is an index into the file's names, or None.
func (n *nester) end(time int64, name uint32) {
	n.pop(0, time)
	s := n.stacks[0]
	i := len(s) - 1 // the slice that is meant: without a name the innermost B
	for i >= 0 && (!s[i].began || name != trace.None && n.f.regions.list[s[i].region].name != name) {
		i--
	}
	if i < 0 {
		n.count.unmatched++
		return
	}
	for j := len(s) - 1; j > i; j-- {
		if s[j].began {
			n.count.open++
		}
		n.leave(0, time) // what was begun since, and slices that the E cuts
	}
	n.leave(0, time)
}

// moment makes way for an event that is no slice: slices that end before it are left.
func (n *nester) moment(time int64) int64 {
	n.pop(0, time-1)
	return n.advance(0, time, 1)
}

// close leaves what is open at the end of the track. Slices without an end stay open,
// unless one with an end encloses them.
func (n *nester) close() {
	for k := range n.stacks {
		low := slices.IndexFunc(n.stacks[k], func(fr visit) bool { return fr.end != unknownEnd })
		for low >= 0 && len(n.stacks[k]) > low {
			end := n.limit(k)
			if end == unknownEnd {
				end = n.last[k]
				n.count.open++
			}
			n.leave(k, end)
		}
	}
}

// putAttrs attaches the attributes of the record at hand to the next event.
func (n *nester) putAttrs() {
	for _, a := range n.attrs {
		n.batch.AddAttr(n.ids.attribute(a))
	}
}
