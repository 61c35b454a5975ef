package formulae

import "tracekit/trace"

// A rebuilder walks through the call tree of a location in order and makes the events that
// its formulae describe: formulae decide about control flow and communication, mean
// durations about the time between events. It makes no event more often than it was
// recorded.
type rebuilder struct {
	frame    *frame
	location trace.LocationID
	nodes    []nodeState
	stack    []visit
	now      int64
	done     bool
	pending  [3][]uint64 // open requests: of sends, receives, collectives
	request  uint64
}

// A nodeState is a node with the generators of its formulae.
type nodeState struct {
	*fileNode
	branch repeater
	items  []itemState
}

type itemState struct {
	*fileItem
	mean                        uint64 // interval before it, in 1/meanUnit ticks
	left                        uint64 // of the last interval, in the same unit
	made                        uint64
	peer, tag, size, got, times repeater
}

// A visit is a node that was entered, with the loops that are open in it.
type visit struct {
	node  uint32
	loops []activeLoop
}

// A repeater yields the values of a formula, and begins again where it knows no more: what
// was learned of a sequence before the failure stands for the rest.
type repeater struct {
	f *Formula
	g *generator
}

func (r *repeater) next() (uint64, bool) {
	if r.g == nil {
		r.g = r.f.generate()
	}
	v, ok := r.g.next()
	if !ok {
		r.g = r.f.generate()
		v, ok = r.g.next()
	}
	return v, ok
}

func newRebuilder(f *frame, l trace.LocationID, nodes []fileNode, times *fileTimes) *rebuilder {
	r := &rebuilder{frame: f, location: l, now: times.First, stack: []visit{{}}}
	means := times.Means
	for i := range nodes {
		n := nodeState{fileNode: &nodes[i], branch: repeater{f: &nodes[i].Branch}}
		for k := range nodes[i].Items {
			it := &nodes[i].Items[k]
			n.items = append(n.items, itemState{fileItem: it, mean: means[0], peer: repeater{f: &it.Peer}, tag: repeater{f: &it.Tag},
				size: repeater{f: &it.Size}, got: repeater{f: &it.Got}, times: repeater{f: &it.Times}})
			means = means[1:]
		}
		r.nodes = append(r.nodes, n)
	}
	r.done = len(nodes) == 0
	return r
}

// A happening is an event that was rebuilt: a row of one of the tables.
type happening struct {
	table   trace.TableID
	time    int64
	kind    trace.Kind
	region  trace.RegionID
	context trace.CallingContextID
	p2p     trace.P2PRow
	coll    trace.CollRow
}

// next makes the next event; ok is false at the end of the location.
func (r *rebuilder) next() (h happening, ok bool) {
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
				return r.leave(n, i), true
			}
		case i.made == i.Count: // more often than it was recorded
		case i.Kind == trace.KindEnter:
			r.stack = append(r.stack, visit{node: i.Child})
			return r.enter(i), true
		default:
			return r.communication(i), true
		}
	}
	return happening{}, false
}

// maxItems bounds the items that are looked at without making an event.
const maxItems = 1 << 16

// item returns the next item of a visit that is not a loop.
func (r *rebuilder) item(v *visit, n *nodeState) (uint32, bool) {
	for range maxItems {
		item, ok := nextOf(v, n)
		if !ok || item >= uint64(len(n.items)) {
			return 0, false
		}
		i := &n.items[item]
		if len(i.Body) == 0 {
			if item != 0 && i.made == i.Count {
				continue
			}
			return uint32(item), true
		}
		if count, ok := i.times.next(); ok && count > 0 && len(v.loops) < maxNesting {
			v.loops = append(v.loops, activeLoop{i.Body, 0, count - 1})
		}
	}
	return 0, false
}

// nextOf returns the next item of the innermost loop of a visit, or of the node.
func nextOf(v *visit, n *nodeState) (uint64, bool) {
	for len(v.loops) > 0 {
		top := &v.loops[len(v.loops)-1]
		if top.at < len(top.body) {
			top.at++
			return uint64(top.body[top.at-1]), true
		}
		if top.left == 0 {
			v.loops = v.loops[:len(v.loops)-1]
			continue
		}
		top.at, top.left = 0, top.left-1
	}
	if n.branch.g == nil {
		n.branch.g = n.branch.f.generate()
	}
	return n.branch.g.next()
}

// tick moves on by the mean interval before an item. What is left of a tick counts for
// the next time.
func (r *rebuilder) tick(i *itemState) int64 {
	t := i.mean + i.left
	r.now += int64(t / meanUnit)
	i.left = t % meanUnit
	i.made++
	return r.now
}

func (r *rebuilder) enter(i *itemState) happening {
	h := happening{table: trace.TableFlow, time: r.tick(i), kind: trace.KindEnter, region: trace.RegionID(i.Ref), context: trace.CallingContextID(i.Site)}
	if i.Site != trace.None {
		h.kind = trace.KindCallingContextEnter
	}
	return h
}

func (r *rebuilder) leave(n *nodeState, i *itemState) happening {
	h := happening{table: trace.TableFlow, time: r.tick(i), kind: trace.KindLeave, region: trace.RegionID(n.Region), context: trace.CallingContextID(n.Context)}
	if n.Context != trace.None {
		h.kind = trace.KindCallingContextLeave
	}
	return h
}

// communication makes an event of a construct with the next value of each of its formulae.
func (r *rebuilder) communication(i *itemState) happening {
	h := happening{table: i.Kind.Table(), time: r.tick(i), kind: i.Kind}
	peer, _ := i.peer.next()
	tag, _ := i.tag.next()
	size, _ := i.size.next()
	got, _ := i.got.next()
	rank := uint32(peer)
	if i.Relative {
		rank, _ = r.frame.absolute(r.location, i.Ref, uint32(peer))
	}
	id := r.nextRequest(i.Kind)
	if h.table == trace.TableP2P {
		h.p2p = trace.P2PRow{Time: h.time, Kind: i.Kind, Peer: rank, Comm: trace.CommID(i.Ref), Tag: uint32(tag), Bytes: size, Request: id}
		return h
	}
	h.coll = trace.CollRow{Time: h.time, Kind: i.Kind, Op: i.Op, Comm: trace.CommID(i.Ref), Root: rank, Sent: size, Received: got, Request: id}
	return h
}

// nextRequest gives new requests new numbers; completions complete the oldest.
func (r *rebuilder) nextRequest(k trace.Kind) uint64 {
	class := 0
	switch k {
	case trace.KindMpiIrecvRequest, trace.KindMpiIrecv, trace.KindMpiRequestCancelled:
		class = 1
	case trace.KindNonBlockingCollectiveRequest, trace.KindNonBlockingCollectiveComplete:
		class = 2
	}
	open := &r.pending[class]
	switch requestRoleOf(k) {
	case roleStarts:
		r.request++
		if len(*open) < maxOpen {
			*open = append(*open, r.request)
		}
		return r.request
	case roleCompletes:
		if len(*open) > 0 {
			id := (*open)[0]
			*open = (*open)[1:]
			return id
		}
	case roleNames:
		for _, o := range r.pending {
			if len(o) > 0 {
				return o[0]
			}
		}
	}
	return 0
}

// add appends an event to a batch.
func (h *happening) add(b *trace.Batch) {
	switch {
	case h.table == trace.TableP2P:
		h.p2p.Time = h.time
		b.AddP2P(h.p2p)
	case h.table == trace.TableColl:
		h.coll.Time = h.time
		b.AddColl(h.coll)
	case h.context != trace.None:
		b.AddContext(h.time, h.kind, h.region, h.context, 0)
	default:
		b.AddFlow(h.time, h.kind, h.region)
	}
}
