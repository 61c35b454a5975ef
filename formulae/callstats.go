package formulae

import (
	"context"

	"tracekit/engine"
	"tracekit/trace"
)

// A treeNode is a call path of one location, with what happens during its visits as
// items: calls of children, communication events, loops of these. Item 0 is the return.
// The first node stands for the location itself.
type treeNode struct {
	parent  uint32
	region  uint32
	context uint32
	visits  uint64
	items   []*treeItem
	index   map[itemKey]uint32
	loops   map[string]uint32
	budget  int // items that further loops may have
	branch  *Learner
	finder  loopFinder
}

// An itemKey tells items of a node apart that are not loops.
type itemKey struct {
	kind trace.Kind // KindEnter for calls
	op   trace.CollectiveOp
	ref  uint32 // region or communicator
	site uint32 // calling context
}

// A treeItem is something that happens during the visits of a node.
type treeItem struct {
	itemKey
	child uint32   // node, for a call
	body  []uint32 // for a loop
	count uint64   // of the intervals before it
	time  uint64   // their sum, in ticks

	// peer: receivers, senders or roots; size: bytes sent; got: bytes received;
	// times: iterations of a loop, each time it is met
	peer, tag, size, got, times *Learner
}

// loopBudget is the number of items in the bodies of all loops of a node, for each term.
const loopBudget = 64

// maxBody is the largest number of items in the body of a loop.
const maxBody = 256

// A callTree collects the statistics of a location.
type callTree struct {
	terms   int
	nodes   []*treeNode
	path    []uint32 // nodes from the outermost on
	last    int64    // time of the last event
	first   int64
	begun   bool
	dropped uint64 // events of kinds that have no place in the tree
}

func newCallTree(terms int) *callTree {
	t := &callTree{terms: terms}
	t.path = []uint32{t.addNode(0, trace.None, trace.None)}
	return t
}

// addNode adds a node whose loops are found while it is visited, and told to its learners.
func (t *callTree) addNode(parent, region, context uint32) uint32 {
	n := &treeNode{parent: parent, region: region, context: context, index: make(map[itemKey]uint32),
		loops: make(map[string]uint32), budget: loopBudget * t.terms, branch: NewLearner(t.terms)}
	n.items = []*treeItem{{}}
	n.finder = loopFinder{
		most:   maxBody,
		defs:   func(item uint32) []uint32 { return n.items[item].body },
		define: func(body []uint32) uint32 { return n.loop(body, t.terms) },
		ended:  func(loop uint32, count uint64) { n.items[loop].times.Add(count) },
		emit:   func(item uint32) { n.branch.Add(uint64(item)) },
	}
	t.nodes = append(t.nodes, n)
	return uint32(len(t.nodes) - 1)
}

// loop returns the item of a loop, 0 if it is new and one too many.
func (n *treeNode) loop(body []uint32, terms int) uint32 {
	key := bodyKey(body)
	if id, ok := n.loops[key]; ok {
		return id
	}
	if len(body) > n.budget {
		return 0
	}
	n.budget -= len(body)
	id := uint32(len(n.items))
	n.items = append(n.items, &treeItem{body: body, times: NewLearner(terms)})
	n.loops[key] = id
	return id
}

// item returns an item of the current node that happens at a time.
func (t *callTree) item(key itemKey, time int64) *treeItem {
	n := t.nodes[t.path[len(t.path)-1]]
	id, ok := n.index[key]
	if !ok {
		id = uint32(len(n.items))
		n.items = append(n.items, t.newItem(key))
		n.index[key] = id
	}
	n.finder.add(id)
	t.interval(n.items[id], time)
	return n.items[id]
}

func (t *callTree) newItem(key itemKey) *treeItem {
	i := &treeItem{itemKey: key}
	if key.kind != trace.KindEnter {
		i.peer, i.tag, i.size, i.got = NewLearner(t.terms), NewLearner(t.terms), NewLearner(t.terms), NewLearner(t.terms)
	}
	return i
}

// interval charges the time since the last event to an item.
func (t *callTree) interval(i *treeItem, time int64) {
	if !t.begun {
		t.first, t.last, t.begun = time, time, true
	}
	i.count++
	i.time += uint64(max(time-t.last, 0))
	t.last = max(t.last, time)
}

// enter calls a child of the current node, which may be new.
func (t *callTree) enter(region, context uint32, time int64) {
	i := t.item(itemKey{kind: trace.KindEnter, ref: region, site: context}, time)
	if i.child == 0 {
		i.child = t.addNode(t.path[len(t.path)-1], region, context)
	}
	t.nodes[i.child].visits++
	t.path = append(t.path, i.child)
}

// leave leaves the current node, unless it is the first. A leave of another region than
// the current one is not believed.
func (t *callTree) leave(region uint32, time int64) {
	n := t.nodes[t.path[len(t.path)-1]]
	if len(t.path) == 1 || n.region != region {
		t.dropped++
		return
	}
	t.interval(n.items[0], time)
	n.finder.end()
	n.branch.Add(0)
	t.path = t.path[:len(t.path)-1]
}

// finish ends what is open at the end of the location.
func (t *callTree) finish() {
	for i := len(t.path) - 1; i >= 0; i-- {
		t.nodes[t.path[i]].finder.end()
	}
}

// batch adds the events of a batch.
func (t *callTree) batch(b *trace.Batch) {
	var next [5]int
	for _, table := range b.Order {
		row := next[table]
		next[table]++
		switch table {
		case trace.TableFlow:
			t.flow(&b.Flow, row)
		case trace.TableP2P:
			p := &b.P2P
			i := t.item(itemKey{kind: p.Kind[row], ref: uint32(p.Comm[row])}, p.Time[row])
			i.learn(uint64(p.Peer[row]), uint64(p.Tag[row]), p.Bytes[row], 0)
		case trace.TableColl:
			c := &b.Coll
			i := t.item(itemKey{kind: c.Kind[row], op: c.Op[row], ref: uint32(c.Comm[row])}, c.Time[row])
			i.learn(uint64(c.Root[row]), 0, c.Sent[row], c.Received[row])
		default:
			t.dropped++
		}
	}
}

// flow adds an enter or a leave; which node is left follows from the path, not from the
// calling context that the event names.
func (t *callTree) flow(f *trace.Flow, row int) {
	context := uint32(trace.None)
	if len(f.Context) > 0 {
		context = uint32(f.Context[row])
	}
	if f.Kind[row].Enters() {
		t.enter(uint32(f.Region[row]), context, f.Time[row])
		return
	}
	t.leave(uint32(f.Region[row]), f.Time[row])
}

// learn adds what an event says to the item's learners.
func (i *treeItem) learn(peer, tag, size, got uint64) {
	i.peer.Add(peer)
	i.tag.Add(tag)
	i.size.Add(size)
	i.got.Add(got)
}

// A statistics is the stage that makes the call trees of locations.
type statistics struct{ terms int }

// Map makes the call tree of a location.
func (s statistics) Map(_ context.Context, _ *trace.Defs, _ trace.LocationID, batches engine.Batches) (*callTree, error) {
	t := newCallTree(s.terms)
	for b, err := range batches {
		if err != nil {
			return nil, err
		}
		t.batch(b)
	}
	t.finish()
	return t, nil
}
