package formulae

import (
	"math"

	"tracekit/formulae/partners"
	"tracekit/formulae/sequence"
	"tracekit/trace"
)

// A treeNode is a call path of one location, with what happens during its visits as
// items: calls of children, other events, loops of these. Item 0 is the return. The first
// node stands for the location itself.
type treeNode struct {
	parent   uint32
	region   uint32
	context  uint32
	visits   uint64
	spent    uint64 // ticks, but not those below
	items    []*treeItem
	index    map[itemKey]uint32
	straight bool // the branch formula gets terms for straight-line code
	branch   *sequence.Learner
	finder   sequence.LoopFinder
}

// An itemKey distinguishes the items of a node that are not loops.
type itemKey struct {
	kind  trace.Kind // KindEnter for calls
	op    trace.CollectiveOp
	ref   uint32 // region, communicator or metric
	site  uint32 // calling context
	shape uint32 // index into CallTree.shapes
}

// A treeItem is something that happens during the visits of a node.
type treeItem struct {
	itemKey
	child     uint32 // node, for a call
	body      []uint32
	intervals [partners.Further + 1]intervals
	waited    uint64 // ticks before these began, since the event before

	// peer: receivers, senders or roots; size: bytes sent; got: bytes received;
	// times: iterations of a loop, each time it is met; values: one for each field of the
	// shape; counters: instead of these for the members of a metric
	peer, tag, size, got, times *sequence.Learner
	values                      []*sequence.Learner
	counters                    []counter
}

// count returns how often an item that is not a loop took place.
func (i *treeItem) count() (n uint64) {
	for _, s := range i.intervals {
		n += s.count
	}
	return n
}

// loopBudget is the number of items in the bodies of all loops of a node, for each term.
const loopBudget = 64

// maxBody is the largest number of items in the body of a loop.
const maxBody = 256

// A CallTree collects the statistics of a location.
type CallTree struct {
	form   sequence.Form
	nodes  []*treeNode
	path   trace.CallStack[uint32] // nodes below the first
	shapes shapes
	meters meters

	clock    *trace.ClockCursor // corrects times; nil: they are taken as recorded
	waits    *partners.Cursor   // until when calls wait; nil: waiting is own time
	sampling bool               // whether durations are kept for laws
	laws     []law              // of what takes the most time

	first, last int64 // time of the first and of the last event
	begun       bool
	release     int64 // when the current call's partners were ready
	waiting     int   // depth of that call; 0: none
	completing  bool  // the last event completed something in the current call
	waited      uint64
	unwind      [1]uint64 // distance of the current event

	plain    bool   // nothing is learned: see Skeleton
	seq      uint64 // of the current event
	place    place  // of it
	outliers outliers
	ranked   []outlier // once all is there

	items        int    // of all nodes
	dropped      uint64 // events that have no place in the tree
	added        uint64 // leaves of what was never left
	droppedAttrs uint64 // attributes of leaves
}

// Bounds of a tree, and so of the memory of a location: what happens in call paths, and items
// of them, that are one too many has no place in it.
const (
	mostNodes = 1 << 15
	mostItems = 1 << 16
)

// beyond stands for the node of a call that has none.
const beyond = math.MaxUint32

// NewCallTree returns an empty tree with formulae of a form.
func NewCallTree(form sequence.Form) *CallTree {
	t := &CallTree{form: form, release: partners.Never}
	t.addNode(0, trace.None, trace.None)
	return t
}

// A place is a node and the number of one of its items.
type place struct{ node, item uint32 }

// addNode adds a node. Its loops are found while it is visited, and their iterations go to its learners.
func (t *CallTree) addNode(parent, region, context uint32) uint32 {
	n := &treeNode{parent: parent, region: region, context: context, index: make(map[itemKey]uint32), items: []*treeItem{{}}}
	t.nodes = append(t.nodes, n)
	if t.plain {
		return uint32(len(t.nodes) - 1)
	}
	n.straight, n.branch = !t.form.Paper, t.form.Learner()
	n.finder = sequence.LoopFinder{
		Most:   maxBody,
		Budget: loopBudget * t.form.Memory(),
		Body:   func(item uint32) []uint32 { return n.items[item].body },
		Define: func(body []uint32) uint32 { return t.loop(n, body) },
		Ended:  func(loop uint32, count uint64) { n.items[loop].times.Add(count) },
		Emit:   func(item uint32) { n.branch.Add(uint64(item)) },
	}
	return uint32(len(t.nodes) - 1)
}

// loop adds the item of a loop, and returns 0 if it is one too many.
func (t *CallTree) loop(n *treeNode, body []uint32) uint32 {
	if t.items == mostItems {
		return 0
	}
	t.items++
	return n.add(&treeItem{body: body, times: t.form.Learner()})
}

// mostBranchTerms bounds what the items of a node add to the memory of its branch formula:
// learning tries all lengths of prologue and body.
const mostBranchTerms = 256

// add adds an item. The branch formula may have a term more for it: code that is gone
// through once needs one for each statement.
func (n *treeNode) add(i *treeItem) uint32 {
	n.items = append(n.items, i)
	if n.straight {
		n.branch.Extend(2, mostBranchTerms)
	}
	return uint32(len(n.items) - 1)
}

// Dropped returns how many events have no place in the tree.
func (t *CallTree) Dropped() uint64 { return t.dropped }

// current returns the innermost node that was entered and not left.
func (t *CallTree) current() uint32 {
	if n := t.path.Top(); n != nil {
		return *n
	}
	return 0
}

// item returns an item of the current node that happens at a time, nil if it has no place.
func (t *CallTree) item(key itemKey, time int64) *treeItem {
	current := t.current()
	t.place = place{beyond, 0}
	if current == beyond {
		t.dropped++
		return nil
	}
	n := t.nodes[current]
	id, ok := n.index[key]
	if !ok {
		if t.items == mostItems || key.kind == trace.KindEnter && len(t.nodes) == mostNodes {
			t.dropped++
			return nil
		}
		t.items++
		id = n.add(t.newItem(key))
		n.index[key] = id
	}
	if t.place = (place{current, id}); !t.plain {
		n.finder.Add(id)
	}
	t.charge(n, n.items[id], time)
	return n.items[id]
}

func (t *CallTree) newItem(key itemKey) *treeItem {
	i := &treeItem{itemKey: key}
	if communicates(key.kind) && !t.plain {
		i.peer, i.tag, i.size, i.got = t.form.Learner(), t.form.Learner(), t.form.Learner(), t.form.Learner()
	}
	for _, f := range t.shapes.of(key.shape) {
		if key.kind == trace.KindMetric && !f.IsAttribute {
			i.counters = append(i.counters, counter{})
			continue
		}
		if !t.plain {
			i.values = append(i.values, t.form.Learner())
		}
	}
	return i
}

// communicates reports whether events of a kind have partners, tags and sizes.
func communicates(k trace.Kind) bool {
	return k.Table() == trace.TableP2P || k.Table() == trace.TableColl
}

// enter calls a child of the current node, which may be new; nil if it has no place.
func (t *CallTree) enter(key itemKey, seq uint64, time int64) *treeItem {
	i := t.item(key, time)
	if i == nil {
		t.path.Enter(trace.RegionID(key.ref), beyond)
		return nil
	}
	if i.child == 0 {
		i.child = t.addNode(t.current(), key.ref, key.site)
	}
	t.nodes[i.child].visits++
	t.path.Enter(trace.RegionID(key.ref), i.child)
	if t.waits != nil {
		if until, ok := t.waits.Of(seq); ok {
			t.release, t.waiting = until, t.path.Len()
		}
	}
	return i
}

// leave leaves a region, and those inside it that were never left; of the first node there is
// no leave.
func (t *CallTree) leave(region trace.RegionID, time int64) {
	ends := t.path.Leave(region)
	t.place = place{beyond, 0}
	if ends == 0 {
		t.dropped++
		return
	}
	for ; ends > 0; ends-- {
		node := t.path.Pop()
		switch {
		case node == beyond && ends == 1:
			t.dropped++
			fallthrough
		case node == beyond:
			continue
		case ends > 1:
			t.added++
		}
		n := t.nodes[node]
		if t.place.node == beyond {
			t.place = place{node, 0}
		}
		if t.charge(n, n.items[0], time); !t.plain {
			n.finder.End()
			n.branch.Add(0)
		}
	}
	if t.path.Len() < t.waiting { // functions that the call calls receive for it
		t.release, t.waiting = partners.Never, 0
	}
}

// Finish ends what is open at the end of the location.
func (t *CallTree) Finish() {
	if t.plain {
		return
	}
	for t.path.Len() > 0 {
		if node := t.path.Pop(); node != beyond {
			t.nodes[node].finder.End()
		}
	}
	t.nodes[0].finder.End()
}
