package reconstruct

import (
	"tracekit/formulae"
	"tracekit/formulae/partners"
	"tracekit/formulae/sequence"
	"tracekit/trace"
)

// A rebuilder walks through the call tree of a location in order and makes the events that
// its formulae describe. It makes no event more often than it was recorded. Type timing
// decides when events happen.
type rebuilder struct {
	ranks    *partners.Ranks
	location trace.LocationID
	shapes   [][]formulae.Field
	nodes    []nodeState
	stack    []nodeVisit
	done     bool
	pending  [3][]uint64 // open requests: of sends, receives, collectives
	request  uint64
	meters   *formulae.Meters
	bare     bool // events get no values
	looks    int  // at items, that are left to make no event
}

// A nodeState is a node with the generators of its formulae.
type nodeState struct {
	*formulae.Node
	branch    repeater
	items     []itemState
	entered   uint64 // visits
	branched  uint64 // values of the branch formula so far
	leftovers *leftovers
}

type itemState struct {
	*formulae.Item
	made  uint64
	index uint32 // in the location: see places
	more  *more  // nil: it is an event of none of these kinds, or was not met yet
}

// A more is what most items of most locations have not: they are calls.
type more struct {
	sides   *communication // nil: it communicates not, or was not met yet
	times   *repeater      // of a loop; nil: it was not met yet
	carried *carried       // nil: its events have no values
}

func (i *itemState) extend() *more {
	if i.more == nil {
		i.more = new(more)
	}
	return i.more
}

// A carried yields what events carry in addition to their kind: arguments, attributes and metrics.
type carried struct {
	values []repeater // of arguments and attributes
	growth []uint64   // of the members of a metric
}

// A communication yields who the partners of an item are, and what is sent to and from them.
type communication struct{ peer, tag, size, got repeater }

func newCommunication(i *formulae.Item) *communication {
	return &communication{peer: repeater{f: &i.Peer}, tag: repeater{f: &i.Tag}, size: repeater{f: &i.Size}, got: repeater{f: &i.Got}}
}

// A nodeVisit is a node that was entered, with the loops that are open in it.
type nodeVisit struct {
	node  uint32
	loops sequence.LoopStack
	dues  dues // what is left over for this visit, once the branch formula knows no more
	rest  bool // dues decide
}

// A repeater yields the values of a formula, and begins again where it knows no more: what
// was learned of a sequence before the failure stands for the rest. Amounts are not repeated:
// the rest is shared out evenly, so that the total is what it was.
type repeater struct {
	f    *sequence.Formula
	g    *sequence.Generator
	made uint64 // amounts so far
	sum  uint64 // of these
}

// amount returns the next value of a formula of amounts.
func (r *repeater) amount() (v uint64, ok bool) {
	switch {
	case r.f.Kind != sequence.Failed:
		return r.next()
	case r.made < r.f.Count:
		if v, ok = r.next(); !ok {
			return 0, false
		}
	case r.made < r.f.Seen:
		v = (r.f.Sum - r.sum) / (r.f.Seen - r.made)
	default:
		return 0, false
	}
	r.made, r.sum = r.made+1, r.sum+v
	return v, true
}

func (r *repeater) next() (uint64, bool) {
	if v, ok := r.f.Constant(); ok {
		return v, true // as are most formulae of most locations: they need no generator
	}
	if r.g == nil {
		r.g = r.f.Generate()
	}
	v, ok := r.g.Next()
	if !ok {
		r.g = r.f.Generate()
		v, ok = r.g.Next()
	}
	return v, ok
}

func newRebuilder(ranks *partners.Ranks, l trace.LocationID, from *formulae.Location) *rebuilder {
	tree, times := from.Tree, &from.Times
	r := &rebuilder{ranks: ranks, location: l, shapes: tree.Shapes, stack: []nodeVisit{{}}, meters: formulae.NewMeters(times),
		looks: spareLooks}
	r.nodes = make([]nodeState, 0, len(tree.Nodes))
	counters, index := times.Counters, uint32(0)
	for i := range tree.Nodes {
		n := nodeState{Node: &tree.Nodes[i], branch: repeater{f: &tree.Nodes[i].Branch}}
		n.items = make([]itemState, 0, len(n.Items))
		for k := range n.Items {
			it := &n.Items[k]
			state := itemState{Item: it, index: index}
			index++
			if members := tree.Members(it); len(it.Values) > 0 || members > 0 {
				c := &carried{growth: counters[:members]}
				for v := range it.Values {
					c.values = append(c.values, repeater{f: &it.Values[v]})
				}
				state.extend().carried = c
				counters = counters[members:]
			}
			n.items = append(n.items, state)
		}
		r.nodes = append(r.nodes, n)
	}
	r.done = len(tree.Nodes) == 0
	if !r.done {
		r.nodes[0].entered = 1
	}
	return r
}

// next makes the next event, without its time; ok is false at the end of the location.
func (r *rebuilder) next() (h event, ok bool) {
	for !r.done {
		v := &r.stack[len(r.stack)-1]
		n := &r.nodes[v.node]
		item, ok := r.item(v, n)
		if !ok {
			item = 0 // the branch formula knows no more: return
		}
		i := &n.items[item]
		switch {
		case item == 0:
			if len(r.stack) == 1 {
				r.done = true
				break
			}
			r.stack = r.stack[:len(r.stack)-1]
			if i.made < i.Count {
				i.made++
				return leave(n, i), true
			}
		case i.made == i.Count: // more often than it was recorded
		case i.Kind == trace.KindEnter:
			i.made++
			r.stack = append(r.stack, nodeVisit{node: i.Child})
			r.nodes[i.Child].entered++
			return r.enter(i), true
		default:
			i.made++
			return r.event(i), true
		}
	}
	return event{}, false
}

// Looking at an item makes an event, but where loops begin, and where a file says that what
// took place so often takes place once more. A location has some looks to spare, and gets more
// with each event: enough for the deepest loops.
const (
	spareLooks = 1 << 16
	eventLooks = 64
)

// item returns the next item of a visit that is not a loop.
func (r *rebuilder) item(v *nodeVisit, n *nodeState) (uint32, bool) {
	for ; r.looks > 0; r.looks-- {
		if v.rest {
			return v.dues.next()
		}
		item, ok := nextOf(v, n)
		if !ok && n.Branch.Kind == sequence.Failed {
			v.dues, v.rest = n.due(), true
			continue
		}
		if !ok || item >= uint64(len(n.items)) {
			return 0, false
		}
		i := &n.items[item]
		if len(i.Body) == 0 {
			if item != 0 && i.made == i.Count {
				continue
			}
			r.looks = min(r.looks+eventLooks, spareLooks)
			return uint32(item), true
		}
		m := i.extend()
		if m.times == nil {
			m.times = &repeater{f: &i.Times}
		}
		if count, ok := m.times.amount(); ok && count > 0 {
			v.loops.Enter(i.Body, count)
		}
	}
	return 0, false
}

// nextOf returns the next item of the innermost loop of a visit, or of the node.
func nextOf(v *nodeVisit, n *nodeState) (uint64, bool) {
	if item, ok := v.loops.Next(); ok {
		return uint64(item), true
	}
	if n.branched == n.Branch.Count {
		return 0, false
	}
	n.branched++
	return n.branch.next()
}

func (r *rebuilder) enter(i *itemState) event {
	h := event{table: trace.TableFlow, kind: trace.KindEnter, region: trace.RegionID(i.Ref), context: trace.CallingContextID(i.Site), item: i}
	if i.Site != trace.None {
		h.kind = trace.KindCallingContextEnter
	}
	r.carry(i, &h)
	return h
}

func leave(n *nodeState, i *itemState) event {
	h := event{table: trace.TableFlow, kind: trace.KindLeave, region: trace.RegionID(n.Region), context: trace.CallingContextID(n.Context),
		item: i}
	if n.Context != trace.None {
		h.kind = trace.KindCallingContextLeave
	}
	return h
}

// event makes an event of a construct with the next value of each of its formulae.
func (r *rebuilder) event(i *itemState) event {
	h := event{table: i.Kind.Table(), kind: i.Kind, metric: i.Ref, item: i}
	r.carry(i, &h)
	if !(i.Kind.Table() == trace.TableP2P || i.Kind.Table() == trace.TableColl) {
		return h
	}
	m := i.extend()
	if m.sides == nil {
		m.sides = newCommunication(i.Item)
	}
	peer, _ := m.sides.peer.next()
	tag, _ := m.sides.tag.next()
	size, _ := m.sides.size.amount()
	got, _ := m.sides.got.amount()
	rank := uint32(peer)
	if i.Relative {
		rank, _ = r.ranks.Absolute(r.location, i.Ref, int64(peer))
	}
	id := r.nextRequest(i.Kind)
	if h.table == trace.TableP2P {
		h.p2p = trace.P2PRow{Kind: i.Kind, Peer: rank, Comm: trace.CommID(i.Ref), Tag: uint32(tag), Bytes: size, Request: id}
		return h
	}
	h.coll = trace.CollRow{Kind: i.Kind, Op: i.Op, Comm: trace.CommID(i.Ref), Root: rank, Sent: size, Received: got, Request: id}
	return h
}

// carry gives an event its values: arguments or members of a metric, then attributes.
func (r *rebuilder) carry(i *itemState, h *event) {
	if i.Shape == 0 || r.bare || i.more == nil || i.more.carried == nil {
		return
	}
	c := i.more.carried
	h.fields = r.shapes[i.Shape-1]
	h.values = make([]uint64, 0, len(h.fields))
	for k, grown := range c.growth {
		h.values = append(h.values, r.meters.Read(i.Ref, k, h.fields[k].Type, grown))
	}
	for k := range c.values {
		v, _ := c.values[k].next()
		h.values = append(h.values, v)
	}
}

// nextRequest gives new requests new numbers; completions complete the oldest.
func (r *rebuilder) nextRequest(k trace.Kind) uint64 {
	sends, receives, collectives := &r.pending[0], &r.pending[1], &r.pending[2]
	switch k {
	case trace.KindMpiIsend:
		return r.start(sends)
	case trace.KindMpiIsendComplete:
		return complete(sends)
	case trace.KindMpiIrecvRequest:
		return r.start(receives)
	case trace.KindMpiIrecv, trace.KindMpiRequestCancelled:
		return complete(receives)
	case trace.KindNonBlockingCollectiveRequest:
		return r.start(collectives)
	case trace.KindNonBlockingCollectiveComplete:
		return complete(collectives)
	case trace.KindMpiRequestTest:
		for _, open := range r.pending {
			if len(open) > 0 {
				return open[0]
			}
		}
	}
	return 0
}

// maxOpen bounds the open requests of a class; more are never completed.
const maxOpen = 4096

func (r *rebuilder) start(open *[]uint64) uint64 {
	r.request++
	if len(*open) < maxOpen {
		*open = append(*open, r.request)
	}
	return r.request
}

func complete(open *[]uint64) (id uint64) {
	if len(*open) > 0 {
		id, *open = (*open)[0], (*open)[1:]
	}
	return id
}
