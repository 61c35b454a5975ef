package headers

import (
	"context"
	"math"
	"slices"

	"tracekit/document"
	"tracekit/document/waitstate"
	"tracekit/spill"
	"tracekit/stats/profile"
	"tracekit/trace"
)

// sampling replays system-wide sampling with two designated ranks: only they inject headers,
// with as many hops as lie between them; all others pass on what they have got, with what they
// add. A header that has no hops left is removed; a designated rank reads it first, and may
// then inject the next. Point-to-point messages alone carry headers.
//
// How long a rank holds a header is ours: it passes it on once to each rank that it ever sends
// to, but the one that it has it from, and then lets it go. It takes a header that it waited
// for. One that it did not wait for it takes if it holds none, or one that has come no shorter
// way.
//
// Readings with the same mask are a round. When its later half says what the earlier half has
// said, what has counters is masked from the next injection on, so that smaller metrics appear.
type sampling struct {
	*run
	ends   [2]designated
	merger merger
	ranks  []holder // by location
	graph  *graph

	since   []int64                // by tag: scratch
	index   []*spill.Table[uint32] // by location and send: row in headers + 1 of what the message carries; 0: nothing
	headers *spill.Table[Header]
	rounds  []*round
}

// A designated rank.
type designated struct {
	location trace.LocationID
	hops     uint32 // to the other one
	injects  bool   // with the next message
	mask     uint64 // of what it injects
	origin   uint64 // bit 0 of that mask, where no metric is
}

// originBit distinguishes the headers of the two designated ranks: no metric has tag 0.
const originBit = 1

// owns reports whether the rank has injected a header.
func (d *designated) owns(h Header) bool { return h.Mask&originBit == d.origin }

// A holder is a rank with the header that it holds.
type holder struct {
	holds    bool
	header   Header
	passed   map[uint32]bool // ranks that it was sent to, and the one that has sent it
	left     int             // ranks that it is still to be sent to
	gathered []int64         // by tag: since it was taken; nil until there is something
}

// A round is the readings under one mask.
type round struct {
	mask     uint64
	count    int      // of all readings
	readings []Header // the latest
}

// How readings become steady, and how many a round keeps.
const (
	leastReadings = 4
	steadyShare   = 0.1
	mostReadings  = 1 << 10
)

func newSampling(r *run, ends [2]designated, g *graph) *sampling {
	s := &sampling{run: r, ends: ends, ranks: make([]holder, len(r.t.Calls)), graph: g,
		since: make([]int64, len(r.metrics.names)), headers: spill.NewTable[Header](r.t.Store)}
	for _, sends := range r.t.Sends {
		s.index = append(s.index, spill.NewZeros[uint32](r.t.Store, sends.Len()))
	}
	for i := range s.ends {
		s.ends[i].injects, s.ends[i].origin = s.ends[i].hops > 0, uint64(i)
	}
	return s
}

func (s *sampling) play(ctx context.Context) error { return s.visit(ctx, s) }

// designated returns the designated rank at a location, nil if it is none.
func (s *sampling) designated(l trace.LocationID) *designated {
	for i := range s.ends {
		if s.ends[i].location == l {
			return &s.ends[i]
		}
	}
	return nil
}

// gather adds time to what a rank adds to the header that it holds.
func (s *sampling) gather(h *holder, tag uint8, time int64) {
	if !h.holds || time == 0 {
		return
	}
	if h.gathered == nil {
		h.gathered = make([]int64, len(s.metrics.names))
	}
	h.gathered[tag] += time
}

// take makes a rank hold a header that it has from another one, or from itself.
func (s *sampling) take(l trace.LocationID, header Header, from trace.LocationID) {
	h, source := &s.ranks[l], s.t.Rank[from]
	h.holds, h.header = true, header
	if h.passed == nil {
		h.passed = make(map[uint32]bool)
	}
	clear(h.passed)
	clear(h.gathered)
	h.passed[source] = true
	targets := s.graph.targets(s.t.Rank[l])
	h.left = len(targets)
	if _, back := slices.BinarySearch(targets, source); back {
		h.left--
	}
}

// Enter implements causal.Visitor: the messages of a call carry what its rank holds. It may need the message of each
// receive that it completes.
func (s *sampling) Enter(l trace.LocationID, row int) (needs int) {
	c := s.call(l, row)
	s.carry(l, &c)
	s.schedule.Reach(l, row+1)
	return c.endRecv - c.firstRecv
}

// carry gives the messages of a call what its rank holds.
func (s *sampling) carry(l trace.LocationID, c *call) {
	row := int(c.row)
	h := &s.ranks[l]
	if h.holds {
		for x := range s.segments[l].Between(before(row), uint32(row)) {
			s.gather(h, s.metrics.of(x.Path), x.Time)
		}
	}
	d := s.designated(l)
	if !h.holds && (d == nil || !d.injects) {
		return
	}
	if c.sends == 0 || s.outside(c) {
		return
	}
	end := s.t.Sends[l].Len()
	if row+1 < s.t.Calls[l].Len() {
		end = int(s.t.Calls[l].Ptr(row + 1).FirstSend)
	}
	for k := int(c.FirstSend); k < end; k++ {
		if m := s.t.Sends[l].Ptr(k); m.Call == c.row && m.State == trace.Matched && m.RecvLoc != l {
			s.send(l, k, m.RecvLoc)
		}
	}
}

// send sends a message, which carries what its rank injects or holds.
func (s *sampling) send(l trace.LocationID, k int, to trace.LocationID) {
	h := &s.ranks[l]
	if d := s.designated(l); d != nil && d.injects {
		s.take(l, Header{Mask: d.mask | d.origin, Hops: d.hops}, l)
		d.injects = false
	}
	if !h.holds || h.passed[s.t.Rank[to]] {
		return
	}
	header := h.header
	s.merger.merge(&header, h.gathered)
	s.index[l].Set(k, uint32(s.headers.Append(header))+1)
	h.passed[s.t.Rank[to]] = true
	h.left--
	h.holds = h.left > 0
}

// sender returns the call that sends the message of a receive that a call completes; ok is false if it is none of
// another location.
func (s *sampling) sender(l trace.LocationID, row uint32, m *trace.Recv) (from place, ok bool) {
	if m.State != trace.Matched || m.Call != row || m.SendLoc == l {
		return place{}, false
	}
	from = place{m.SendLoc, s.t.Sends[m.SendLoc].Ptr(int(m.Send)).Call}
	return from, from.call != trace.None && int(from.call) < s.calls(m.SendLoc)
}

// Need implements causal.Visitor.
func (s *sampling) Need(l trace.LocationID, row, k int) (int64, bool) {
	c := s.t.Calls[l].Ptr(row)
	from, ok := s.sender(l, uint32(row), s.t.Recvs[l].Ptr(int(c.FirstRecv)+k))
	return 0, !ok || s.schedule.Entered(l, from.location, from.call)
}

// Leave implements causal.Visitor.
func (s *sampling) Leave(l trace.LocationID, row int, _ int64) error {
	c, h := s.call(l, row), &s.ranks[l]
	if s.outside(&c) {
		return nil
	}
	x := s.hosted(l, &c)
	x.add(func(tag uint8, time int64) { s.gather(h, tag, time) })
	w, known := s.cause(l, &c)
	var got, arrived *Header // to be taken, and at the end of its way
	decided := false         // got is of the message that was waited for
	var by trace.LocationID  // which has sent it
	for i := c.firstRecv; i < c.endRecv; i++ {
		m := s.t.Recvs[l].Ptr(i)
		from, ok := s.sender(l, c.row, m)
		if !ok {
			continue
		}
		k := s.index[from.location].At(int(m.Send))
		if k == 0 {
			continue
		}
		header := s.headers.At(int(k - 1))
		if d := s.designated(l); d != nil && d.owns(header) {
			continue // its own, come back
		}
		decides := known && w.Kind == waitstate.LateSender && w.Location == from.location && w.Call == from.call
		s.travel(l, &c, &header, m, from)
		switch header.Hops--; {
		case header.Hops == 0 && (arrived == nil || decides):
			arrived = &header
		case header.Hops > 0 && (got == nil || decides && !decided):
			got, decided, by = &header, decides, from.location
		}
	}
	if got != nil && (decided || !h.holds || got.Hops >= h.header.Hops) {
		s.take(l, *got, by)
	}
	if arrived != nil {
		s.remove(l, *arrived)
	}
	return nil
}

// travel adds a message's way to the header that it carries: the model's or, if the message lay
// there, what its receiver did since it was sent.
func (s *sampling) travel(l trace.LocationID, c *call, header *Header, m *trace.Recv, from place) {
	sender := s.t.Calls[from.location].Ptr(int(from.call))
	if c.Enter < sender.Enter {
		wire, copying := s.costs.transfer(l, c.Class, from.location, sender.Class, m.Bytes)
		s.merger.merge(header, []int64{tagWire: wire, tagCopy: copying})
		return
	}
	clear(s.since)
	for k := int(c.row); k >= 0 && k > int(c.row)-mostCalls; k-- {
		x := s.call(l, k)
		if x.Enter < sender.Enter {
			break
		}
		o := s.hosted(l, &x)
		o.add(func(tag uint8, time int64) { s.since[tag] += time })
		s.gap(l, k, sender.Enter)
	}
	s.merger.merge(header, s.since)
}

// mostCalls bounds the calls of a receiver that are read to find what it did since a message was sent.
const mostCalls = 64

// gap adds what passed between call k and the one before it, or the part since an instant.
func (s *sampling) gap(l trace.LocationID, k int, since int64) {
	end, begin := s.t.Calls[l].Ptr(k).Enter, s.t.Span[l].First
	if k > 0 {
		begin = s.t.Calls[l].Ptr(k - 1).Leave
	}
	part := 1.0
	if since > begin && end > begin {
		part = float64(end-since) / float64(end-begin)
	}
	for x := range s.segments[l].Between(before(k), uint32(k)) {
		if x.Path != profile.PathNotRecorded {
			s.since[s.metrics.of(x.Path)] += int64(part * float64(x.Time))
		}
	}
}

// remove takes a header away that has no hops left. A designated rank reads it: it may inject
// again, and learns which metrics are masked.
func (s *sampling) remove(l trace.LocationID, header Header) {
	d := s.designated(l)
	if d == nil {
		return
	}
	d.injects = d.hops > 0
	r := s.round(header.Mask &^ originBit)
	r.add(header)
	if mask, ok := r.next(); ok {
		d.mask |= mask
	}
	d.mask |= r.mask
}

// round returns the round of a mask.
func (s *sampling) round(mask uint64) *round {
	for _, r := range s.rounds {
		if r.mask == mask {
			return r
		}
	}
	s.rounds = append(s.rounds, &round{mask: mask})
	return s.rounds[len(s.rounds)-1]
}

// add adds a reading. Of very many the latest are kept.
func (r *round) add(h Header) {
	if len(r.readings) == mostReadings {
		r.readings = slices.Delete(r.readings, 0, mostReadings/2)
	}
	r.readings = append(r.readings, h)
	r.count++
}

// next returns the mask under which to go on, if the round is steady and has more to show, for
// some header had all its counters in use: the largest of its metrics are masked as well. The
// round is looked at when it has twice as many readings as before.
func (r *round) next() (uint64, bool) {
	n := len(r.readings)
	full := slices.ContainsFunc(r.readings, func(h Header) bool { return h.Tags[Explicit-1] != tagNone })
	if n < leastReadings || n&(n-1) != 0 || !full || difference(mean(r.readings[:n/2]), mean(r.readings[n/2:])) > steadyShare {
		return 0, false
	}
	largest := Header{Mask: r.mask}
	var times [256]int64
	for tag, time := range mean(r.readings) {
		times[tag] = int64(math.Ceil(time))
	}
	new(merger).merge(&largest, times[:])
	mask := r.mask
	for _, tag := range largest.Tags {
		if tag != tagNone && tag < 64 {
			mask |= 1 << tag
		}
	}
	return mask, mask != r.mask
}

// mean returns the mean time by tag of readings; that of OTHER has tag 0.
func mean(readings []Header) (mean [256]float64) {
	for _, x := range readings {
		mean[tagNone] += float64(x.Other)
		for i, tag := range x.Tags {
			mean[tag] += float64(x.Times[i])
		}
	}
	for tag := range mean {
		mean[tag] /= float64(len(readings))
	}
	return mean
}

// difference returns how much of one composition is not in another one: 0 to 1.
func difference(a, b [256]float64) float64 {
	var sumA, sumB, moved float64
	for tag := range a {
		sumA, sumB = sumA+a[tag], sumB+b[tag]
	}
	if sumA == 0 || sumB == 0 {
		return 0
	}
	for tag := range a {
		moved += math.Abs(a[tag]/sumA - b[tag]/sumB)
	}
	return moved / 2
}

func (s *sampling) release() {
	for _, x := range s.index {
		x.Release()
	}
	s.headers.Release()
}

// A graph says which ranks send to which.
type graph struct{ out [][]uint32 }

func newGraph(cells []document.MatrixCell, ranks int) *graph {
	g := &graph{out: make([][]uint32, ranks)}
	for _, c := range cells {
		if c.From != c.To && c.Count > 0 && int(c.From) < ranks && int(c.To) < ranks {
			g.out[c.From] = append(g.out[c.From], c.To)
		}
	}
	for _, to := range g.out {
		slices.Sort(to)
	}
	return g
}

// targets returns the ranks that a rank sends to, ascending.
func (g *graph) targets(rank uint32) []uint32 {
	if int(rank) >= len(g.out) {
		return nil
	}
	return g.out[rank]
}

// distances returns the hops from a rank to all; -1 where no messages lead.
func (g *graph) distances(from uint32) []int {
	d := make([]int, len(g.out))
	for i := range d {
		d[i] = -1
	}
	d[from] = 0
	for queue := []uint32{from}; len(queue) > 0; queue = queue[1:] {
		for _, to := range g.out[queue[0]] {
			if d[to] < 0 {
				d[to] = d[queue[0]] + 1
				queue = append(queue, to)
			}
		}
	}
	return d
}

// farthest returns the rank most hops away, of several the lowest.
func (g *graph) farthest(from uint32) uint32 {
	d := g.distances(from)
	return uint32(slices.Index(d, slices.Max(d)))
}

// hops returns the hops from one rank to another, 0 if no messages lead there.
func (g *graph) hops(from, to uint32) int { return max(0, g.distances(from)[to]) }

// opposite returns two ranks that lie as far from each other as ranks do that exchange
// messages, or nearly: the rank farthest from the first that sends, and that farthest from it,
// of several the lowest. ok is false if no message goes from one rank to another.
func (g *graph) opposite() (a, b uint32, ok bool) {
	first := slices.IndexFunc(g.out, func(to []uint32) bool { return len(to) > 0 })
	if first < 0 {
		return 0, 0, false
	}
	a = g.farthest(uint32(first))
	if b = g.farthest(a); b == a { // nothing goes from there
		a = uint32(first)
		b = g.farthest(a)
	}
	if b < a && g.hops(b, a) > 0 {
		a, b = b, a
	}
	return a, b, true
}
