package whatif

import (
	"cmp"
	"context"
	"math"
	"math/bits"
	"slices"
	"strings"

	"tracekit/document/waitstate"
	"tracekit/stats/analysis"
	"tracekit/trace"
)

// A network is what the trace shows of the time that messages need, in ticks.
//
//	flights are in order of their keys; the first is of what needs no time
type network struct {
	tree        *trace.CallTree
	flights     []flight
	index       map[flightKey]uint32 // rows of flights
	overhead    int64                // of the shortest call that sends
	floor       int64                // of the shortest call that completes something
	synchronous uint64               // size from which on a send waits for its receiver
	exchanging  uint64               // from which on a call waits for its receiver that receives, too
	always      []bool               // by region: it does so whatever the size; nil: none that is called does

	least         [2]int64 // shortest calls that send, and that complete requests, without waiting for receivers
	lateReceivers bool     // some wait
	lateProgress  bool     // some calls wait for partners to enter MPI
	hull          []point  // the least times of messages; nil: there are none
}

// A flightKey is a sort of what needs time between the entering of one call and the end of
// another one.
type flightKey struct {
	kind flightKind
	size uint64 // class of the message's size, or of what a member of a collective sends and receives
	op   trace.CollectiveOp
}

// A flightKind says from where to where.
type flightKind uint8

const (
	atOnce         flightKind = iota
	sendToRecv                // until the blocking receive of the message
	sendToRecvBoth            // the same if the sender waits for the receiver
	sendToProbe               // until the probe that finds it
	sendToWait                // until the call that completes its non-blocking receive
	postToWait                // from posting that until there, if the sender waits for it
	postToSend                // from posting the receive until the blocking send
	postToSsend               // the same if that waits for the receiver whatever the size
	postToSendWait            // from there until the call that completes the send
	sendToSendWait            // from posting that send until there
	beginToWait               // from the last begin of a collective until the call that completes it
	collective                // from there until the end of a call that both begins and completes it
	flightKinds
)

// A recent remembers by kind and operation what was looked up last: mostly it is wanted again.
type recent[T any] [flightKinds][ops]struct {
	key   flightKey
	value T
	known bool
}

// ops is more than there are collective operations.
const ops = 64

// find returns what is remembered of a key, or what look says.
func (r *recent[T]) find(key flightKey, look func(flightKey) T) T {
	x := &r[key.kind][key.op%ops]
	if !x.known || x.key != key {
		x.key, x.value, x.known = key, look(key), true
	}
	return x.value
}

// A flight is what is known of one sort.
type flight struct {
	flightKey
	least           int64  // shortest time from the other call until the end of one that was there before; none: MaxInt64
	shortest        int64  // shortest call that ends so
	ready           int64  // shortest of those that did not wait for the other side
	bytes           uint64 // of the message with the least time; of the smallest one if none has any
	blocked, passed uint64 // calls that waited for the other one, and that were left before it was there
	lag             int64  // by how much the own time of the call begins after the other one is entered, or later
	wire            int64  // time on the network, before that and in it
	seen            seen
}

// seen counts the calls of a sort on the location that is looked at.
type seen struct {
	location trace.LocationID
	calls    uint32
}

// The other side is looked up of the first calls of a sort on a location, and of one in thinned of
// the calls after them.
const (
	lookedUp = 1024
	thinned  = 16
)

// looksUp counts a call of a sort, and reports whether its other side is to be looked up.
func (f *flight) looksUp(l trace.LocationID) bool {
	if f.seen.location != l {
		f.seen = seen{location: l}
	}
	f.seen.calls++
	return f.seen.calls <= lookedUp || f.seen.calls%thinned == 0
}

func (f *flight) merge(o *flight) {
	if o.least < f.least || o.least == f.least && o.bytes < f.bytes {
		f.least, f.bytes = o.least, o.bytes
	}
	f.shortest, f.ready = min(f.shortest, o.shortest), min(f.ready, o.ready)
	f.blocked += o.blocked
	f.passed += o.passed
}

// classOf returns the smallest size of a class: sizes that agree in their first five bits.
func classOf(bytes uint64) uint64 {
	shift := max(0, bits.Len64(bytes)-5)
	return bytes >> shift << shift
}

// row returns the row of a sort in flights, 0 if nothing is known of it.
func (n *network) row(key flightKey) uint32 { return n.index[key] }

// calibrate finds how long messages are on their way, and which sends wait for receivers.
func (m *Model) calibrate(ctx context.Context, a *analysis.Result, collectives *observations) (*network, error) {
	n := &network{tree: m.t.Tree, always: m.always(), exchanging: a.Exchanging}
	if w := a.WaitStates; w != nil {
		n.lateReceivers = w[waitstate.LateReceiver].Count+w[waitstate.LateReceiverBehindLateSender].Count > 0
		n.lateProgress = w[waitstate.LateProgress].Count > 0
	}
	seen, err := m.observeAll(ctx, n, a.Waits, math.MaxInt64, false)
	if err != nil {
		return nil, err
	}
	longest := seen.longest // of calls that send or receive
	n.learn(seen.merge(collectives))
	if long := 2 * max(n.floor, n.overhead); longest > long && (n.hull == nil || n.synchronous == math.MaxUint64) {
		// Nobody waits for a late partner. But who takes long has waited for messages on their way.
		again, err := m.observeAll(ctx, n, a.Waits, long, n.hull != nil)
		if err != nil {
			return nil, err
		}
		if n.hull != nil { // receives, and collectives, show what they have shown
			for _, f := range seen.flights {
				f.blocked, f.passed = 0, 0
			}
			collectives = seen
		}
		n.learn(again.merge(collectives))
	}
	n.index = make(map[flightKey]uint32)
	for i := range n.flights {
		n.index[n.flights[i].flightKey] = uint32(i)
	}
	return n, nil
}

// settle finds costs, wires and lags, once it is known which sends wait.
func (n *network) settle() {
	n.findCosts()
	n.findWires()
	for i := range n.flights {
		f := &n.flights[i]
		f.lag = n.lag(f)
	}
}

// always says by region which sends wait for their receivers whatever the size; nil if none of
// those called does.
func (m *Model) always() (out []bool) {
	called := m.t.Tree.Visited(len(m.t.Defs.Regions))
	for i, r := range m.t.Defs.Regions {
		name := strings.ToLower(m.t.Defs.String(r.Name))
		if called[i] && (strings.Contains(name, "mpi_ssend") || strings.Contains(name, "mpi_issend")) {
			if out == nil {
				out = make([]bool, len(called))
			}
			out[i] = true
		}
	}
	return out
}

// learn finds out about the network what observations say.
func (n *network) learn(o *observations) {
	n.flights = make([]flight, 1)
	for _, f := range o.flights {
		n.flights = append(n.flights, *f)
	}
	slices.SortFunc(n.flights[1:], func(a, b flight) int {
		return cmp.Or(cmp.Compare(a.kind, b.kind), cmp.Compare(a.op, b.op), cmp.Compare(a.size, b.size))
	})
	for _, f := range n.flights {
		if f.kind == sendToRecv {
			f.kind, f.least = sendToRecvBoth, math.MaxInt64
			n.flights = append(n.flights, f)
		}
	}
	n.flights = append(n.flights, flight{flightKey: flightKey{kind: sendToProbe}, least: math.MaxInt64})
	n.synchronous, n.least = n.threshold(), [2]int64{o.overhead, o.floor}
	n.settle()
}

// sender returns the call that sends a received message, nil if there is none.
func (m *Model) sender(r *trace.Recv) *trace.Call {
	if s := m.t.Sends[r.SendLoc].Ptr(int(r.Send)); s.Call != trace.None {
		return m.t.Calls[r.SendLoc].Ptr(int(s.Call))
	}
	return nil
}

// poster returns the call that posts the receive of a matched message, nil if there is none.
func (m *Model) poster(s *trace.Send) *trace.Call {
	if s.State != trace.Matched {
		return nil
	}
	if r := m.t.Recvs[s.RecvLoc].Ptr(int(s.Recv)); r.Post != trace.None {
		return m.t.Calls[s.RecvLoc].Ptr(int(r.Post))
	}
	return nil
}

func (n *network) isAlways(c *trace.Call) bool {
	return n.always != nil && n.always[n.tree.Region(c.Path)]
}

// waits reports whether a send that call c posts waits for its receiver.
func (n *network) waits(c *trace.Call, bytes uint64) bool {
	return bytes >= n.synchronous && c.Class != trace.ClassBsend || n.exchanges(c, bytes) || n.isAlways(c)
}

// exchanges reports whether call c receives, too, and waits for the receiver of what it sends.
func (n *network) exchanges(c *trace.Call, bytes uint64) bool {
	return c.Class == trace.ClassSendrecv && bytes >= n.exchanging
}

// anyWaits reports whether there are sends that wait for their receivers.
func (n *network) anyWaits() bool {
	return n.synchronous < math.MaxUint64 || n.exchanging < math.MaxUint64 || n.always != nil
}

// threshold returns the size that divides best those sends that are seen to wait for their
// receivers from those that go on before, of several the largest.
func (n *network) threshold() uint64 {
	type count struct{ blocked, passed uint64 }
	counts := make(map[uint64]count)
	wrong := uint64(0) // if none waited
	for _, f := range n.flights {
		if f.kind == postToSend || f.kind == postToSendWait {
			c := counts[f.size]
			counts[f.size] = count{c.blocked + f.blocked, c.passed + f.passed}
			wrong += f.blocked
		}
	}
	var sizes []uint64
	for size := range counts {
		sizes = append(sizes, size)
	}
	slices.Sort(sizes)
	best, at := wrong, uint64(math.MaxUint64)
	for _, size := range slices.Backward(sizes) {
		wrong = wrong - counts[size].blocked + counts[size].passed
		if wrong < best {
			best, at = wrong, size
		}
	}
	return at
}

// findCosts finds what calls take that send or complete something, and wait for nothing: of
// blocking ones only those of messages that do not wait for the other side.
func (n *network) findCosts() {
	n.overhead, n.floor = n.least[0], n.least[1]
	for _, f := range n.flights {
		switch {
		case f.size >= n.synchronous || f.kind == postToSsend:
		case f.kind == postToSend:
			n.overhead = min(n.overhead, f.shortest)
		case f.kind == sendToRecv:
			n.floor = min(n.floor, f.shortest)
		}
	}
	n.costsOfSynchronous()
	if n.overhead == math.MaxInt64 { // every send waits: it costs what a receive does
		n.overhead = n.floor
	}
	if n.overhead == math.MaxInt64 {
		n.overhead = 0
	}
	if n.floor == math.MaxInt64 {
		n.floor = 0
	}
	if n.overhead > 0 { // if every call that completes something waits for it
		n.floor = min(n.floor, n.overhead)
	}
}

// costsOfSynchronous finds the costs that no other calls show from blocking ones that wait for the
// other side: what the shortest that finds it there takes beyond the network, which a late receiver
// shows.
func (n *network) costsOfSynchronous() {
	overhead, floor := int64(math.MaxInt64), int64(math.MaxInt64)
	for i := range n.flights {
		f := &n.flights[i]
		if !n.showsWire(f) {
			continue
		}
		if f.ready < math.MaxInt64 {
			overhead = min(overhead, max(0, f.ready-f.least))
		}
		for _, r := range n.flights {
			if r.kind == sendToRecv && r.size == f.size && r.ready < math.MaxInt64 {
				floor = min(floor, max(0, r.ready-f.least))
			}
		}
	}
	if n.overhead == math.MaxInt64 {
		n.overhead = overhead
	}
	if n.floor == math.MaxInt64 {
		n.floor = floor
	}
}

// showsWire reports whether the least time of a flight is that on the network alone: from posting
// a receive until the end of a send that waited for it.
func (n *network) showsWire(f *flight) bool {
	return f.least < math.MaxInt64 && (f.kind == postToSsend || f.kind == postToSend && f.size >= n.synchronous)
}

// findWires finds which part of times is the network. Of messages that is what the shortest
// takes from the begin of sending until it is received by one that waits, without what these
// calls take anyway: as large messages take no less than small ones, the lower convex hull of
// the times over bytes. Of collectives it is what they take longer than the shortest of their
// kind.
func (n *network) findWires() {
	var hull []point
	floors := make(map[trace.CollectiveOp]int64)
	for _, f := range n.flights {
		switch {
		case f.least == math.MaxInt64:
		case f.kind == sendToRecv || f.kind == sendToWait:
			hull = append(hull, point{f.bytes, f.least})
		case n.showsWire(&f):
			hull = append(hull, point{f.bytes, f.least + n.overhead + n.floor})
		case f.kind == collective:
			if least, ok := floors[f.op]; !ok || f.least < least {
				floors[f.op] = f.least
			}
		}
	}
	n.hull = lowerHull(hull)
	for i := range n.flights {
		switch f := &n.flights[i]; {
		case f.kind == collective:
			f.wire = max(0, f.least-floors[f.op])
		case f.kind != atOnce && f.kind != beginToWait:
			f.wire = n.wire(f.bytes)
		}
	}
}

// wire returns the time on the network of a message of a size.
func (n *network) wire(bytes uint64) int64 {
	if n.hull == nil {
		return 0
	}
	return max(0, at(n.hull, bytes)-n.overhead-n.floor)
}

// lag returns how long after the other call is entered the own time of a call begins at least.
// A message that waits for its receiver is on the network once both have begun: in the own time
// of blocking calls, before that of others.
func (n *network) lag(f *flight) int64 {
	switch {
	case f.kind == beginToWait && f.least < math.MaxInt64:
		return max(0, f.least-n.floor)
	case f.kind == atOnce || f.kind == collective || f.kind == beginToWait || n.hull == nil:
		return 0
	case f.kind == postToSend || f.kind == postToSsend:
		return -n.overhead
	case f.kind == postToWait || f.kind == postToSendWait:
		return f.wire
	case f.kind == sendToRecvBoth:
		return n.overhead
	}
	return n.overhead + f.wire
}

// inLag returns which part of a flight's time on the network passes before the own time of the
// call that it ends in.
func (n *network) inLag(f *flight) int64 {
	switch f.kind {
	case sendToRecv, sendToWait, sendToProbe, sendToSendWait, postToWait, postToSendWait:
		return f.wire
	}
	return 0
}

// wires says how long messages are on the network, in ticks: as recorded, or as base says, and some longer.
type wires struct {
	base             func(bytes uint64) float64 // nil: as recorded
	latency, perByte float64                    // how much longer
	ranks            int
}

// now returns the time on the network of a flight, in ticks.
func (w *wires) now(n *network, f *flight) float64 {
	more, times := w.latency+w.perByte*float64(f.bytes), w.times(n, f)
	switch {
	case w.base == nil:
		return float64(f.wire) + more*times
	case f.kind == collective && times == 0:
		return min(w.base(f.bytes)+more, float64(f.wire))
	}
	return w.base(f.bytes)*times + more*times
}

// times returns how many messages of its size, one after the other, take as long on the network as a flight: of a collective, 0 if
// no message shows it, and on the recorded network a whole number that is no larger than a ring's.
func (w *wires) times(n *network, f *flight) float64 {
	if f.kind != collective {
		return 1
	}
	before := n.wire(f.bytes)
	if before == 0 {
		return 0
	}
	times := float64(f.wire) / float64(before)
	if w.base == nil {
		times = math.Round(min(times, float64(2*max(1, w.ranks-1))))
	}
	return times
}

// latencies returns by how many ticks a flight takes longer if each message takes a tick longer.
func (w *wires) latencies(n *network, f *flight) float64 {
	if f.kind == atOnce || f.kind == beginToWait {
		return 0
	}
	times := w.times(n, f)
	if times == 0 && w.base != nil && w.base(f.bytes)+w.latency+w.perByte*float64(f.bytes) <= float64(f.wire) {
		return 1
	}
	return times
}

// inOwn reports whether the time on the network of a flight is part of the own time of the call that it ends in.
func (f *flight) inOwn() bool {
	return f.kind == collective || f.kind == postToSend || f.kind == postToSsend || f.kind == sendToRecvBoth
}

// on returns the flights on another network, and by how much it makes own times longer, by row.
func (n *network) on(w *wires) (flights []flight, more []int64, err error) {
	flights, more = slices.Clone(n.flights), make([]int64, len(n.flights))
	for i := range flights {
		f := &flights[i]
		if f.kind == atOnce || f.kind == beginToWait {
			continue
		}
		now := w.now(n, f)
		if now > mostChange {
			return nil, nil, errEndless
		}
		change := int64(math.Round(now)) - f.wire
		if f.inOwn() {
			more[i] = change
		} else {
			f.lag += change
		}
		f.wire += change
	}
	return flights, more, nil
}

// A point is the least time of a message of a size.
type point struct {
	bytes uint64
	time  int64
}

// lowerHull returns the lower convex hull of points that does not fall, by bytes.
func lowerHull(all []point) (hull []point) {
	slices.SortFunc(all, func(a, b point) int { return cmp.Or(cmp.Compare(a.bytes, b.bytes), cmp.Compare(a.time, b.time)) })
	for i, p := range all {
		if i > 0 && p.bytes == all[i-1].bytes {
			continue
		}
		for n := len(hull); n > 0; n = len(hull) {
			falls := hull[n-1].time > p.time
			above := n > 1 && slope(hull[n-2], hull[n-1]) >= slope(hull[n-2], p)
			if !falls && !above {
				break
			}
			hull = hull[:n-1]
		}
		hull = append(hull, p)
	}
	return hull
}

func slope(a, b point) float64 { return float64(b.time-a.time) / float64(b.bytes-a.bytes) }

// at returns the time of a size on a hull: before its first point that of the first, behind
// its last along its last edge.
func at(hull []point, bytes uint64) int64 {
	if len(hull) == 1 || bytes <= hull[0].bytes {
		return hull[0].time
	}
	k := 1
	for k+1 < len(hull) && hull[k].bytes < bytes {
		k++
	}
	a, b := hull[k-1], hull[k]
	return a.time + int64(math.Round(slope(a, b)*float64(bytes-a.bytes)))
}

// Synchronous returns the size in bytes from which on sends wait for their receivers. It is nil if none are seen to, or only those that do
// so whatever the size.
func (m *Model) Synchronous() *uint64 {
	if m.network.synchronous == math.MaxUint64 {
		return nil
	}
	return &m.network.synchronous
}
