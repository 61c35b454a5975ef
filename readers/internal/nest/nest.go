package nest

import (
	"math"
	"slices"

	"tracekit/trace"
)

// clipLimit is the overhang, in ns, by which a slice may outlast the one that encloses it
// and still count as nested: writers round begin and end separately. What a stream of an
// accelerator executes does not nest, so that nothing is clipped there.
const clipLimit = 1000

// A nester makes enter and leave events of the records of a sub-track: of sub-track 0 of all
// records of the track, of another one of the slices that went to it. A slice that overlaps
// those before it without being nested is not for this sub-track; see overlaps.
//
//	stack are the open slices, the innermost last
//	a visit in stack with a known end ends no later than the one below
//	calls are those of the visits in stack that communicate, in their order
type nester struct {
	s       *Set
	ids     *IDs
	stack   []visit
	calls   []Call
	first   int64        // time of the first event
	last    int64        // time of the latest event
	shift   int64        // the set's
	events  uint64       // number of events
	batch   *trace.Batch // nil: they are only counted
	attrs   []attr       // of the record at hand
	types   []trace.ValueType
	values  []uint64
	count   nestCount
	outside func(time, dur int64, region trace.RegionID, c Call) // takes the other slices
	exile   map[uint64]bool                                      // slices, by their number in the track, that must not go to sub-track 0
	broken  []uint64                                             // slices that could not keep their end because of a B or an E, or give way
	prefer  bool                                                 // the longer of two slices that do not nest: the shorter gives way
	slices  uint64                                               // number of complete slices so far
	begun   int                                                  // number of open B
	byName  map[uint32]int                                       // of them, by name; nil: not wanted so far
	clip    int64                                                // clipLimit, or 0
	flat    bool                                                 // no slice is part of another one
	placed  *Placed                                              // the track's, or nil
	sketch  *sketch                                              // of an outline; nil: there will be none
}

// brokenLimit bounds the number of slices of a track that are moved because of a B or an E
// that breaks their nesting; further ones get another end, and are counted.
const brokenLimit = 1 << 16

// A nestCount says what did not nest.
type nestCount struct {
	overlaps, open, unmatched uint64
	broken                    uint64 // slices beyond brokenLimit
	lost                      uint64 // slices beyond layerLimit
	deep                      uint64 // slices that end since trace.MaxDepth are open
}

// A visit is an open slice.
type visit struct {
	start        int64
	end          int64 // unknown: math.MaxInt64
	number       uint64
	region       trace.RegionID
	path         trace.PathID // in the sketch
	began        bool         // by B
	communicates bool
}

type attr struct {
	id    trace.AttributeID
	typ   trace.ValueType
	value uint64
}

const unknownEnd = math.MaxInt64

func newNester(s *Set, l *Track, ids *IDs) *nester {
	n := &nester{s: s, ids: ids, last: math.MinInt64, shift: s.Shift, flat: l.Flat, placed: l.Placed,
		outside: func(int64, int64, trace.RegionID, Call) {}}
	if !l.GPU && !l.Exact {
		n.clip = clipLimit
	}
	return n
}

// endOf returns the end of a slice.
func endOf(time, dur int64) int64 {
	if dur == OpenEnd || time > math.MaxInt64-dur-1 {
		return unknownEnd
	}
	return time + dur
}

// slice takes a complete slice.
func (n *nester) slice(time, dur int64, region trace.RegionID, c Call) {
	n.slices++
	exiled := len(n.exile) > 0 && n.exile[n.slices]
	if !exiled {
		n.pop(time)
	}
	end := endOf(time, dur)
	if n.prefer && !exiled && dur != OpenEnd {
		n.giveWay(time, end)
	}
	limit := n.limit()
	if exiled || dur != OpenEnd && !n.fits(end, limit) {
		n.count.overlaps++
		n.outside(time, dur, region, c)
		return
	}
	fr := visit{start: time, end: min(end, limit), region: region, number: n.slices}
	if c.Operation != OpNone {
		n.enterCall(time, fr, c)
		return
	}
	n.enter(time, fr)
}

// longer is how many times as long a slice is as those that give way to it. Of slices of which each
// is a little longer than the one before, one would drive out the other.
const longer = 2

// giveWay takes open slices that end before a much longer one off the stack: they belong to another
// sub-track. So do the calls of Python that open an annotation, which begins within them and
// encloses all that the program does then.
func (n *nester) giveWay(time, end int64) {
	i := len(n.stack)
	for i > 0 && !n.fits(end, n.stack[i-1].end) {
		i--
		v := n.stack[i]
		if v.began || v.communicates || (v.end-v.start) > (end-time)/longer {
			return
		}
	}
	if len(n.broken)+len(n.stack)-i > brokenLimit {
		return
	}
	for _, v := range n.stack[i:] {
		n.broken = append(n.broken, v.number)
	}
	n.stack = n.stack[:i]
}

// fits reports whether a slice nests in one that ends at limit. Begin and end are rounded
// separately, so a child may seem to outlast its parent.
func (n *nester) fits(end, limit int64) bool {
	if n.flat {
		return limit == unknownEnd
	}
	return end <= limit || end-limit <= n.clip
}

// limit returns the end of the innermost open slice.
func (n *nester) limit() int64 {
	if len(n.stack) > 0 {
		return n.stack[len(n.stack)-1].end
	}
	return unknownEnd
}

// pop leaves the slices that end at or before time.
func (n *nester) pop(time int64) {
	for len(n.stack) > 0 && n.limit() <= time {
		n.leave(n.limit())
	}
}

// enter opens a slice, and returns the time of the event. Inside trace.MaxDepth others the innermost of these ends before, as in a
// trace.CallStack.
func (n *nester) enter(time int64, fr visit) int64 {
	if len(n.stack) == trace.MaxDepth {
		n.count.deep++
		n.leave(time)
	}
	if n.sketch != nil {
		n.draw(&fr)
	}
	n.stack = append(n.stack, fr)
	if fr.began {
		n.tally(fr.region, 1)
	}
	time = n.advance(time)
	if n.batch != nil {
		if len(n.attrs) > 0 {
			n.putAttrs()
		}
		n.batch.AddFlow(time, trace.KindEnter, n.ids.region(fr.region))
	}
	return time
}

// enterCall opens a slice that communicates.
func (n *nester) enterCall(time int64, fr visit, c Call) {
	fr.communicates = true
	time = n.enter(time, fr)
	n.calls, n.sketch = append(n.calls, c), nil
	n.beginCall(time, &c)
}

// tally counts a B of a region that is opened or closed.
func (n *nester) tally(region trace.RegionID, by int) {
	n.begun += by
	if n.byName != nil {
		n.byName[n.s.Name(region)] += by
	}
}

// name returns the name of an open slice.
func (n *nester) name(fr visit) uint32 { return n.s.Name(fr.region) }

// leave closes the innermost slice.
func (n *nester) leave(time int64) {
	fr := &n.stack[len(n.stack)-1] // nothing is opened meanwhile
	n.stack = n.stack[:len(n.stack)-1]
	if fr.began {
		n.tally(fr.region, -1)
	}
	if fr.end != unknownEnd {
		n.holds(fr, max(time, n.last))
	}
	if fr.communicates {
		c := n.calls[len(n.calls)-1]
		n.calls = n.calls[:len(n.calls)-1]
		n.endCall(time, &c)
	}
	time = n.advance(time)
	if n.batch != nil {
		n.batch.AddFlow(time, trace.KindLeave, n.ids.region(fr.region))
	}
}

// holds notes a slice with a known end that is closed at another one.
func (n *nester) holds(fr *visit, time int64) {
	if moved := time - fr.end; moved > clipLimit || moved < -clipLimit {
		if len(n.broken) < brokenLimit {
			n.broken = append(n.broken, fr.number)
		} else {
			n.count.broken++
		}
	}
}

// advance counts an event and returns its time, which does not decrease.
func (n *nester) advance(time int64) int64 {
	if n.events == 0 {
		n.first = time
	}
	n.events++
	n.last = max(n.last, time)
	if n.shift == 0 {
		return n.last
	}
	return AddTime(n.last, n.shift)
}

// AddTime adds without overflow.
func AddTime(a, b int64) int64 {
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
func (n *nester) beginCall(time int64, c *Call) {
	if list := n.messages(c); list != nil {
		for i := range list {
			if list[i].Operation == OpSend {
				n.beginCall(time, &list[i])
			}
		}
		return
	}
	switch {
	case c.Operation == OpRecv:
		return
	case n.batch == nil:
	case c.Operation == OpSend:
		n.batch.AddP2P(n.message(trace.KindMpiSend, time, c, c.Sent))
	default:
		n.batch.AddColl(trace.CollRow{Time: time, Kind: trace.KindCollectiveBegin,
			Comm: trace.None, Root: trace.None})
	}
	n.events++
}

// endCall delivers what a communicating slice does at its end.
func (n *nester) endCall(time int64, c *Call) {
	if list := n.messages(c); list != nil {
		for i := range list {
			n.endCall(time, &list[i])
		}
		return
	}
	if c.Operation == OpSend {
		return
	}
	time = n.advance(time)
	switch {
	case n.batch == nil:
	case c.Operation == OpRecv:
		n.batch.AddP2P(n.message(trace.KindMpiRecv, time, c, c.Received))
	default:
		sent, received := c.Sent, c.Received
		if n.s.Sizes != nil {
			sent, received = n.s.Sizes(c)
		}
		n.batch.AddColl(trace.CollRow{Time: time, Kind: trace.KindCollectiveEnd, Op: c.Collective(),
			Comm: n.ids.comm(c.Comm), Root: c.Peer, Sent: sent, Received: received})
	}
}

// messages returns those that a slice exchanges at once, nil if it does something else.
func (n *nester) messages(c *Call) []Call {
	if n.s.Messages == nil || c.Operation.IsMessage() {
		return nil
	}
	return n.s.Messages(c)
}

func (n *nester) message(kind trace.Kind, time int64, c *Call, bytes uint64) trace.P2PRow {
	return trace.P2PRow{Time: time, Kind: kind, Peer: c.Peer, Comm: n.ids.comm(c.Comm), Tag: c.Tag, Bytes: bytes}
}

// begin takes a B.
func (n *nester) begin(time int64, region trace.RegionID) {
	n.pop(time)
	n.enter(time, visit{end: unknownEnd, region: region, began: true})
}

// searched is how many open slices an E looks at before it asks whether its B is there at all.
const searched = 64

// end takes an E; name is an index into the file's names, or None.
func (n *nester) end(time int64, name uint32) {
	n.pop(time)
	i := len(n.stack) - 1 // the slice that is meant: without a name the innermost B
	for ; i >= 0 && !n.ends(i, name); i-- {
		if len(n.stack)-i == searched && !n.isOpen(name) {
			i = -1
			break
		}
	}
	if i < 0 {
		n.count.unmatched++
		return
	}
	for j := len(n.stack) - 1; j > i; j-- {
		if n.stack[j].began {
			n.count.open++
		}
		n.leave(time) // what was begun since, and slices that the E cuts
	}
	n.leave(time)
}

// ends reports whether an E of that name may end an open slice.
func (n *nester) ends(i int, name uint32) bool {
	return n.stack[i].began && (name == trace.None || n.name(n.stack[i]) == name)
}

// isOpen reports whether a B of that name, or any B if it is None, is open.
func (n *nester) isOpen(name uint32) bool {
	if name == trace.None {
		return n.begun > 0
	}
	if n.byName == nil {
		n.byName = make(map[uint32]int)
		for _, fr := range n.stack {
			if fr.began {
				n.byName[n.name(fr)]++
			}
		}
	}
	return n.byName[name] > 0
}

// moment makes way for an event that is no slice: slices that end before it are left.
func (n *nester) moment(time int64) int64 {
	n.pop(time - 1)
	return n.advance(time)
}

// close leaves what is open at the end of the track. Slices without an end stay open,
// unless one with an end encloses them.
func (n *nester) close() {
	low := slices.IndexFunc(n.stack, func(fr visit) bool { return fr.end != unknownEnd })
	for low >= 0 && len(n.stack) > low {
		end := n.limit()
		if end == unknownEnd {
			end = n.last
			n.count.open++
		}
		n.leave(end)
	}
}

// putAttrs attaches the attributes of the record at hand to the next event.
func (n *nester) putAttrs() {
	for _, a := range n.attrs {
		if n.placed != nil && a.id == n.placed.With {
			for i, id := range n.placed.Attributes {
				n.batch.AddAttr(id, trace.TypeUint64, n.placed.Values[i])
			}
		}
		if n.s.Attribute != nil {
			a.id = n.s.Attribute(a.id)
		}
		n.batch.AddAttr(n.ids.attribute(a))
	}
}
