package headers

import (
	"cmp"
	"context"
	"math"
	"math/bits"
	"slices"

	"tracekit/document/waitstate"
	"tracekit/engine"
	"tracekit/stats/fit"
	"tracekit/stats/scope"
	"tracekit/trace"
)

// costs are the times of undisturbed messages. They are derived from the smallest times in each
// class of sizes (a power of two): the smallest time of a larger message bounds that of smaller ones.
//
//   - A call's floor is what its function takes at least. Where the time beyond grows with the bytes, by a
//     fit that is accepted (a slope above 0, at least three classes, an error rate of 5 %), it is copying.
//   - A transfer is the time from the Enter of a send to the Leave of the call that waited for
//     it. Wire is the law through the smallest transfers, for a pair of nodes if those suffice and
//     for all nodes otherwise, without the copying at both ends.
type costs struct {
	own   map[ownKey]ownCost
	wire  law // of all transfers; low has no points: none is known
	pairs map[nodePair]*law
	local local
	nodes []trace.SystemTreeNodeID // by location
	most  float64                  // ticks of the run: no transfer takes longer, whatever its bytes are said to be
}

// ownKey is a function of MPI on one side of messages.
type ownKey struct {
	class trace.CallClass
	tag   uint8 // tagSend or tagReceive
}

// An ownCost is what calls take beyond waiting, in ticks.
type ownCost struct {
	floor   float64
	perByte float64 // 0: copying is not seen
	line    fit.Line
	least   *smallest
}

// needs returns what a call needs at least: by its law, and by the fastest with as many bytes or more.
func (o *ownCost) needs(bytes uint64, copying int64) int64 {
	needs := int64(o.floor) + copying
	if o.least != nil {
		needs = max(needs, o.least.from(bytes))
	}
	return needs
}

// A local is the time of calls that no other rank can delay: they only start a send or a receive.
type local struct {
	calls uint64
	time  int64
	needs int64 // what they would take at their floors
}

// A nodePair is two nodes, the smaller first.
type nodePair struct{ a, b trace.SystemTreeNodeID }

// What makes a fit.
const (
	leastClasses = 2    // of sizes, for a pair of nodes
	leastOf      = 20   // transfers, for a pair of nodes
	mostPairs    = 4096 // of nodes with a fit of their own
	errorRate    = 0.05
)

// smallest holds the smallest time in each class of sizes: class k has the sizes of k bits.
type smallest struct {
	classes [65]struct {
		count uint64
		time  int64
		bytes uint64
	}
	local uint64 // calls that no other rank can delay
}

func (s *smallest) add(bytes uint64, time int64) {
	c := &s.classes[bits.Len64(bytes)]
	if c.count == 0 || time < c.time || time == c.time && bytes < c.bytes {
		c.time, c.bytes = time, bytes
	}
	c.count++
}

func (s *smallest) combine(o *smallest) {
	for k, c := range o.classes {
		if c.count > 0 {
			n := s.classes[k].count
			s.add(c.bytes, c.time)
			s.classes[k].count = n + c.count
		}
	}
	s.local += o.local
}

// points returns the smallest times, the largest size first. Weights make equal shares of time count alike, whatever the size.
func (s *smallest) points() (x, y, w []float64, count uint64) {
	least := int64(math.MaxInt64)
	for k := range slices.Backward(s.classes[:]) {
		c := s.classes[k]
		if c.count == 0 {
			continue
		}
		count += c.count
		least = min(least, c.time)
		x, y = append(x, float64(c.bytes)), append(y, float64(max(least, 1)))
		w = append(w, 1/(y[len(y)-1]*y[len(y)-1]))
	}
	return x, y, w, count
}

// line fits a line through the smallest times.
func (s *smallest) line() (fit.Line, uint64) {
	x, y, w, count := s.points()
	return fit.FitLine(x, y, w), count
}

// from returns the smallest time in the class of so many bytes and in larger ones, 0 if there is none: more bytes do not take less.
func (s *smallest) from(bytes uint64) int64 {
	least := int64(math.MaxInt64)
	for _, c := range s.classes[bits.Len64(bytes):] {
		if c.count > 0 {
			least = min(least, c.time)
		}
	}
	if least == math.MaxInt64 {
		return 0
	}
	return least
}

// least returns the smallest time of all.
func (s *smallest) least() int64 {
	least := int64(math.MaxInt64)
	for _, c := range s.classes {
		if c.count > 0 {
			least = min(least, c.time)
		}
	}
	return least
}

// observed is what the calls of some locations show.
type observed struct {
	own       map[ownKey]*smallest
	transfers smallest
	pairs     map[nodePair]*smallest
	local     local
}

func newObserved() *observed {
	return &observed{own: make(map[ownKey]*smallest), pairs: make(map[nodePair]*smallest)}
}

func (o *observed) combine(p *observed) *observed {
	for k, s := range p.own {
		if o.own[k] == nil {
			o.own[k] = new(smallest)
		}
		o.own[k].combine(s)
	}
	o.transfers.combine(&p.transfers)
	o.local.calls, o.local.time = o.local.calls+p.local.calls, o.local.time+p.local.time
	for k, s := range p.pairs {
		if o.pairs[k] == nil {
			o.pairs[k] = new(smallest)
		}
		o.pairs[k].combine(s)
	}
	return o
}

// newCosts finds what messages cost.
func newCosts(ctx context.Context, r *run, jobs int) (*costs, error) {
	nodes := nodesOf(r.t.Defs)
	distinct := slices.Compact(slices.Sorted(slices.Values(nodes)))
	paired := len(distinct) > 1 && len(distinct)*(len(distinct)+1)/2 <= mostPairs
	all, err := engine.Fold(ctx, jobs, len(r.t.Calls), newObserved, func(o *observed, l int) error {
		return r.observe(ctx, o, trace.LocationID(l), nodes, paired)
	}, (*observed).combine)
	if err != nil {
		return nil, err
	}
	first, last := scope.Run(r.t)
	c := &costs{own: make(map[ownKey]ownCost), pairs: make(map[nodePair]*law), local: all.local, nodes: nodes,
		most: float64(last - first)}
	for key, s := range all.own {
		cost := ownCost{floor: float64(s.least()), least: s}
		if cost.line, _ = s.line(); cost.line.Slope > 0 && cost.line.P <= errorRate {
			cost.floor, cost.perByte = max(0, cost.line.Intercept), cost.line.Slope
		}
		c.own[key] = cost
		c.local.needs += int64(s.local) * s.least()
	}
	c.wire, _ = all.transfers.law()
	for pair, s := range all.pairs {
		if law, count := s.law(); law.low.Points >= leastClasses && count >= leastOf {
			c.pairs[pair] = &law
		}
	}
	return c, nil
}

// observe adds what the calls of a location take.
func (r *run) observe(ctx context.Context, o *observed, l trace.LocationID, nodes []trace.SystemTreeNodeID, paired bool) error {
	for i := range r.calls(l) {
		if i%4096 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		c := r.call(l, i)
		waits := r.waits[l].At(i).Time // of the whole run, as all that costs are learned from
		if tag := c.tag(); waits == 0 && c.shows(tag) {
			key := ownKey{c.Class, tag}
			if o.own[key] == nil {
				o.own[key] = new(smallest)
			}
			o.own[key].add(c.bytes(tag), c.Leave-c.Enter)
			if c.local() {
				o.own[key].local++
				o.local.calls, o.local.time = o.local.calls+1, o.local.time+c.Leave-c.Enter
			}
		}
		w := r.waits[l].At(i)
		if waits == 0 || w.Kind != waitstate.LateSender || w.Call == trace.None {
			continue
		}
		bytes, ok := r.message(l, w)
		if !ok {
			continue
		}
		time := max(0, c.Leave-r.t.Calls[w.Location].Ptr(int(w.Call)).Enter)
		o.transfers.add(bytes, time)
		if paired {
			pair := pairOf(nodes[l], nodes[w.Location])
			if o.pairs[pair] == nil {
				o.pairs[pair] = new(smallest)
			}
			o.pairs[pair].add(bytes, time)
		}
	}
	return nil
}

// local reports whether no other rank can delay the call: it only starts a send or a receive.
func (c *call) local() bool {
	return (c.Class == trace.ClassIsend && c.sends == 1 || c.Class == trace.ClassIrecv) && !c.receives()
}

// shows reports whether a call that does not wait shows how long such calls take: it concerns one
// message at most. (After a wait most time is the transfer.)
func (c *call) shows(tag uint8) bool {
	switch tag {
	case tagSend:
		return c.sends == 1 || c.Class == trace.ClassWait
	case tagReceive:
		return c.Class != trace.ClassTest && (c.endRecv == c.firstRecv+1 || c.Class == trace.ClassIrecv)
	}
	return false
}

func pairOf(a, b trace.SystemTreeNodeID) nodePair { return nodePair{min(a, b), max(a, b)} }

// nodesOf returns the node of the system tree that each location runs on: the nearest one whose
// class is that of a node, or the location's own if there is none.
func nodesOf(d *trace.Defs) []trace.SystemTreeNodeID {
	nodes := make([]trace.SystemTreeNodeID, len(d.Locations))
	for l := range nodes {
		nodes[l] = trace.None
		if g := d.Process(trace.LocationID(l)); int(g) < len(d.LocationGroups) {
			if nodes[l] = d.Node(trace.LocationID(l)); nodes[l] == trace.None {
				nodes[l] = d.LocationGroups[g].Node
			}
		}
	}
	return nodes
}

// own is the time of a call in parts, in ticks.
type own struct {
	tag               uint8 // of what is neither of the others
	rest              int64
	copying           int64
	waiting, underway int64 // for someone, and for a message that was on its way when the call was entered
	beyond            int64 // of rest: what a call that did not wait took beyond what it needs
}

// hosted says what a call is to its host. A host that waits for a message waits until it has
// come, longer than its wait state: all but what calls like it take when they do not wait.
// Where there is no wait state a message may still be under way: until underway after the Enter
// of the call, by the model.
func (c *costs) hosted(x *call, underway int64) own {
	o := own{tag: x.tag(), rest: x.ownTime, waiting: x.waitingTime}
	if o.tag != tagSend && o.tag != tagReceive {
		return o
	}
	cost := c.own[ownKey{x.Class, o.tag}]
	beyond := max(0, o.rest-int64(cost.floor))
	o.copying = int64(min(float64(beyond), cost.perByte*float64(x.bytes(o.tag))))
	if beyond -= o.copying; o.waiting > 0 {
		o.waiting += beyond
	} else {
		beyond = max(0, min(beyond, underway))
		o.underway = beyond
	}
	o.rest -= o.copying + beyond
	if o.waiting == 0 {
		o.beyond = max(0, o.rest-cost.needs(x.bytes(o.tag), o.copying)+o.copying)
	}
	return o
}

// transfer returns what the model says of the way of a message, in ticks, from the Enter of the
// call that sends it to the end of the one that waits for it, of these classes and locations.
// Copying is that of both ends, as far as the growth of the whole transfer has room for it:
// ends may copy at the same time.
func (c *costs) transfer(to trace.LocationID, receiver trace.CallClass, from trace.LocationID, sender trace.CallClass,
	bytes uint64) (wire, copying int64) {
	perByte := c.own[ownKey{sender, tagSend}].perByte + c.own[ownKey{receiver, tagReceive}].perByte
	base, grows := c.law(to, from).at(bytes)
	copies := min(perByte*float64(bytes), grows)
	return int64(math.Round(min(c.most, base+grows-copies))), int64(math.Round(min(c.most, copies)))
}

// law returns that of the transfers between two locations.
func (c *costs) law(to, from trace.LocationID) *law {
	if law, ok := c.pairs[pairOf(c.nodes[to], c.nodes[from])]; ok {
		return law
	}
	return &c.wire
}

// sortedKeys returns what functions are known, in order.
func (c *costs) sortedKeys() []ownKey {
	var keys []ownKey
	for k := range c.own {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, func(a, b ownKey) int { return cmp.Or(cmp.Compare(a.tag, b.tag), cmp.Compare(a.class, b.class)) })
	return keys
}
