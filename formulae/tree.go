package formulae

import (
	"errors"
	"iter"
	"math/bits"

	"tracekit/formulae/partners"
	"tracekit/formulae/sequence"
	"tracekit/trace"
)

// A Location is what was learned of a location. Its events can be rebuilt from it.
type Location struct {
	Tree  *Tree // may be shared by locations whose trees are equal
	Times Times

	// Of the recorded run, which a replay has to be like: the mean time before each item that completes communication, waiting included, in
	// 1/MeanUnit ticks (0 for others), in the order of nodes and items; and the ticks from the first event to the last.
	Completions []uint64
	Length      int64
	Sums        []Sum  // of the intervals of Times.Means
	Far         []Far  // intervals that are far from their means, the farthest first
	Late        uint64 // ticks that calls waited behind late senders, up to the first LateEvents events

	// Sequence opens the events of the location as they were recorded, with times of 0 and metrics of 0. Tree is their skeleton then: without
	// formulae (see Skeleton). nil: formulae decide.
	Sequence Sequence
}

// A Sequence begins to read events; what it returns delivers them batch by batch, nil at the end. A batch is
// valid until the next call.
type Sequence func() func() (*trace.Batch, error)

// A Tree is the call tree of a location with the formulae of what happens in it. Parents come
// before children; the first node stands for the location itself.
type Tree struct {
	Shapes [][]Field
	Nodes  []Node
}

// A Node is a call path.
type Node struct {
	Parent, Region, Context uint32
	Visits                  uint64
	Branch                  sequence.Formula // items of all visits, one after the other; 0: return
	Items                   []Item
}

// An Item is something that happens during the visits of a node; item 0 is the return.
type Item struct {
	Kind     trace.Kind // KindEnter: a call of Child; 0: a loop or the return
	Op       trace.CollectiveOp
	Ref      uint32 // region, communicator or metric
	Site     uint32 // calling context
	Shape    uint32 // index into Tree.Shapes, plus 1; 0: no fields
	Child    uint32
	Body     []uint32 // of a loop: items
	Count    uint64   // how often it took place
	Relative bool     // Peer holds differences to the own rank, see partners.Ranks

	// Peer: receivers, senders or roots; Size: bytes sent; Got: bytes received; Times:
	// iterations of a loop, each time it is met; Values: of the fields of the shape but the
	// members of a metric.
	Peer, Tag, Size, Got, Times sequence.Formula
	Values                      []sequence.Formula
}

// Formulae yields the formulae of an item that have one value each time it takes place.
func (i *Item) Formulae() iter.Seq[*sequence.Formula] {
	return func(yield func(*sequence.Formula) bool) {
		if communicates(i.Kind) && !(yield(&i.Peer) && yield(&i.Tag) && yield(&i.Size) && yield(&i.Got)) {
			return
		}
		for k := range i.Values {
			if !yield(&i.Values[k]) {
				return
			}
		}
	}
}

// Amounts yields the formulae of an item that are about amounts, which have a Sum.
func (i *Item) Amounts() iter.Seq[*sequence.Formula] {
	return func(yield func(*sequence.Formula) bool) {
		if communicates(i.Kind) && !(yield(&i.Size) && yield(&i.Got)) || i.Body == nil {
			return
		}
		yield(&i.Times)
	}
}

// Times are what differs between locations with the same call tree.
type Times struct {
	First    int64    // corrected time of the first event
	Spent    []uint64 // mean time of a visit of each node but not below it, waiting included, in 1/MeanUnit ticks
	Means    []uint64 // of the intervals before the items, node by node and regime by regime, in 1/MeanUnit ticks
	Laws     []Law    // of some of these, ascending
	Outliers []Outlier
	Bases    []uint64 // first values of the members of metrics, in order of appearance
	Counters []uint64 // mean growth of the members of metrics, item by item
}

// A Law is the distribution of the intervals of one of the means.
type Law struct {
	Interval  uint64 // index into Times.Means
	Family    uint8
	Quantiles []uint64 // at the levels of LawLevels, in ticks; each as the difference to the one before
}

// MeanUnit is the number of units of means in a tick.
const MeanUnit = 16

// Mean returns time/count in 1/MeanUnit ticks, 0 if it is out of range.
func Mean(time, count uint64) uint64 {
	hi, lo := bits.Mul64(time, MeanUnit)
	if count == 0 || hi >= count {
		return 0
	}
	q, _ := bits.Div64(hi, lo, count)
	return q
}

// location returns what was learned of a location, its partners relative to it.
func (t *CallTree) location(ranks *partners.Ranks, l trace.LocationID) Location {
	out := Location{Tree: &Tree{Shapes: t.shapes.lists}, Length: t.last - t.first}
	out.Times = Times{First: t.first, Bases: t.meters.bases}
	items, means, counters := 0, 0, 0
	for _, n := range t.nodes {
		items += len(n.items)
		for _, i := range n.items {
			means, counters = means+partners.Regimes(i.kind), counters+len(i.counters)
		}
	}
	out.Tree.Nodes = make([]Node, 0, len(t.nodes))
	out.Times.Spent, out.Times.Means = make([]uint64, 0, len(t.nodes)), make([]uint64, 0, means)
	out.Completions = make([]uint64, 0, items)
	if counters > 0 {
		out.Times.Counters = make([]uint64, 0, counters)
	}
	numbers := make(map[*intervals]uint32)
	for _, n := range t.nodes {
		out.Times.Spent = append(out.Times.Spent, Mean(n.spent, max(n.visits, 1)))
		node := Node{Parent: n.parent, Region: n.region, Context: n.context, Visits: n.visits}
		if n.branch != nil {
			node.Branch = n.branch.Formula()
		}
		for _, i := range n.items {
			node.Items = append(node.Items, i.item(ranks, l))
			sums := i.sums()
			for r := range sums {
				numbers[&i.intervals[r]] = uint32(len(out.Sums) + r)
			}
			out.Times.Means = append(out.Times.Means, make([]uint64, len(sums))...)
			setMeans(out.Times.Means[len(out.Sums):], sums)
			out.Sums = append(out.Sums, sums...)
			out.Completions = append(out.Completions, i.completion())
			for k := range i.counters {
				out.Times.Counters = append(out.Times.Counters, i.counters[k].mean(t.shapes.of(i.shape)[k].Type))
			}
		}
		out.Tree.Nodes = append(out.Tree.Nodes, node)
	}
	for _, far := range t.ranked {
		out.Far = append(out.Far, Far{far.seq, far.time, numbers[far.of]})
	}
	for _, law := range t.laws {
		out.Times.Laws = append(out.Times.Laws, law.Law)
	}
	return out
}

// item returns an item with its formulae, its peers relative if they can be.
func (i *treeItem) item(ranks *partners.Ranks, l trace.LocationID) Item {
	out := Item{Kind: i.kind, Op: i.op, Ref: i.ref, Site: i.site, Shape: i.shape, Child: i.child, Body: i.body, Count: i.count()}
	if i.times != nil {
		out.Times = i.times.Amount()
	}
	if i.peer != nil {
		out.Peer, out.Tag, out.Size, out.Got = i.peer.Formula(), i.tag.Formula(), i.size.Amount(), i.got.Amount()
		if i.kind.Table() == trace.TableP2P {
			out.Relative = ranks.Relate(l, i.ref, &out.Peer)
		}
	}
	for _, v := range i.values {
		out.Values = append(out.Values, v.Formula())
	}
	return out
}

// MostEvents is more events than any recorded run has.
const MostEvents = 1 << 40

// Events returns how many events the tree stands for, MostEvents if they are as many or more.
// It is what the items that are not loops count; the return of the first node is no event.
func (t *Tree) Events() (events uint64) {
	for n := range t.Nodes {
		for k := range t.Nodes[n].Items {
			if i := &t.Nodes[n].Items[k]; len(i.Body) == 0 && n+k > 0 {
				events = min(events+min(i.Count, MostEvents), MostEvents)
			}
		}
	}
	return events
}

// Check checks that attributes are the last fields and nodes are a tree. Items must name what there is, and they and their fields must be
// those of their kinds.
func (t *Tree) Check() error {
	for _, fields := range t.Shapes {
		for i, f := range fields {
			if i > 0 && fields[i-1].IsAttribute && !f.IsAttribute {
				return errors.New("an attribute before other fields")
			}
		}
	}
	for i := range t.Nodes {
		n := &t.Nodes[i]
		if len(n.Items) == 0 {
			return errors.New("a node that does not return")
		}
		if i > 0 && uint64(n.Parent) >= uint64(i) {
			return errors.New("a node before its parent")
		}
		for k := range n.Items {
			if !t.sound(uint32(i), n, k) {
				return errors.New("an item that is not of its kind")
			}
		}
	}
	return nil
}

func (t *Tree) sound(node uint32, n *Node, item int) bool {
	i := &n.Items[item]
	if uint64(i.Shape) > uint64(len(t.Shapes)) || len(i.Values) != len(t.Fields(i))-t.Members(i) {
		return false
	}
	switch {
	case i.Kind == trace.KindEnter:
		if i.Child <= node || uint64(i.Child) >= uint64(len(t.Nodes)) || t.Nodes[i.Child].Parent != node {
			return false
		}
	case i.Kind.Table() == trace.TableFlow && i.Kind != 0:
		return false
	case i.Kind == trace.KindMetric:
		if n := t.Members(i); n == 0 || n > maxMembers {
			return false
		}
	}
	for _, b := range i.Body {
		if uint64(b) >= uint64(item) || b == 0 { // loops hold earlier items
			return false
		}
	}
	return true
}

// maxMembers is the largest number of members of a metric.
const maxMembers = 255

// Fields returns the fields of an item.
func (t *Tree) Fields(i *Item) []Field {
	if i.Shape == 0 {
		return nil
	}
	return t.Shapes[i.Shape-1]
}

// Members returns how many fields of an item are members of a metric.
func (t *Tree) Members(i *Item) (n int) {
	if i.Kind != trace.KindMetric {
		return 0
	}
	for _, f := range t.Fields(i) {
		if !f.IsAttribute {
			n++
		}
	}
	return n
}

// Check checks that the times are those of a tree.
func (t *Times) Check(tree *Tree) error {
	means, counters := 0, 0
	for i := range tree.Nodes {
		for k := range tree.Nodes[i].Items {
			item := &tree.Nodes[i].Items[k]
			means += partners.Regimes(item.Kind)
			counters += tree.Members(item)
		}
	}
	if len(t.Spent) != len(tree.Nodes) || len(t.Means) != means || len(t.Counters) != counters {
		return errors.New("times of another tree")
	}
	for i, l := range t.Laws {
		if l.Interval >= uint64(means) || i > 0 && l.Interval <= t.Laws[i-1].Interval || len(l.Quantiles) != len(LawLevels()) {
			return errors.New("a law of no interval")
		}
		for _, q := range l.Quantiles {
			if q > LongestLawful {
				return errors.New("a law of too long intervals")
			}
		}
	}
	return t.CheckOrder()
}

// CheckOrder checks what of the times does not depend on the tree.
func (t *Times) CheckOrder() error {
	for i, o := range t.Outliers {
		if o.Code > largestOutlier(codeBits) || i > 0 && o.Seq <= t.Outliers[i-1].Seq {
			return errOutlier
		}
	}
	return nil
}
