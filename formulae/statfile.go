package formulae

import (
	"math/bits"

	"tracekit/trace"
)

// A fileNode is a node of a call tree as a file in stat mode has it. Parents come before
// children; the first node stands for the location itself.
type fileNode struct {
	Parent, Region, Context uint32
	Visits                  uint64
	Branch                  Formula // items of all visits, one after the other; 0: return
	Items                   []fileItem
}

// A fileItem is something that happens during the visits of a node; item 0 is the return.
type fileItem struct {
	Kind     trace.Kind // KindEnter: a call of Child; 0: a loop or the return
	Op       trace.CollectiveOp
	Ref      uint32 // region, communicator or metric
	Site     uint32 // calling context
	Shape    uint32 // index into fileTree.Shapes, plus 1; 0: no fields
	Child    uint32
	Body     []uint32 // of a loop: items
	Count    uint64   // how often it took place
	Relative bool     // Peer holds differences to the own rank, see frame.relative

	// see treeItem
	Peer, Tag, Size, Got, Times Formula
	Values                      []Formula
}

// A fileTimes is what differs between locations with the same call tree.
type fileTimes struct {
	First    int64     // corrected time of the first event
	Means    []uint64  // before the items, node by node and regime by regime, in 1/meanUnit ticks
	Laws     []fileLaw // of some of these, ascending
	Bases    []uint64  // first values of the members of metrics, in order of appearance
	Counters []uint64  // mean growth of the members of metrics, item by item
}

// A fileLaw is the law of one of the means.
type fileLaw struct {
	Spell     uint64 // index into Means
	Family    uint8
	Quantiles []uint64 // at lawLevels; each as the difference to the one before
}

// meanUnit is the unit of means: so many make a tick.
const meanUnit = 16

// meanOf returns time/count in 1/meanUnit ticks, 0 if it is out of range.
func meanOf(time, count uint64) uint64 {
	hi, lo := bits.Mul64(time, meanUnit)
	if count == 0 || hi >= count {
		return 0
	}
	q, _ := bits.Div64(hi, lo, count)
	return q
}

// file returns a call tree as a file has it.
func (t *callTree) file(f *frame, l trace.LocationID) (tree *fileTree, times fileTimes) {
	tree = &fileTree{Shapes: t.shapes.lists}
	times = fileTimes{First: t.first, Bases: t.meters.bases}
	for _, n := range t.nodes {
		out := fileNode{Parent: n.parent, Region: n.region, Context: n.context, Visits: n.visits, Branch: n.branch.Formula()}
		for _, i := range n.items {
			out.Items = append(out.Items, i.file(f, l))
			times.Means = append(times.Means, i.means()...)
			for k := range i.counters {
				times.Counters = append(times.Counters, i.counters[k].mean(t.shapes.of(i.shape)[k].Type))
			}
		}
		tree.Nodes = append(tree.Nodes, out)
	}
	for _, law := range t.laws {
		differences := make([]uint64, len(law.quantiles))
		last := uint64(0)
		for i, q := range law.quantiles {
			differences[i], last = q-last, q
		}
		times.Laws = append(times.Laws, fileLaw{uint64(law.spell), law.family, differences})
	}
	return tree, times
}

// means returns the mean time before an item in each regime. Where a regime never came up,
// that of the other stands in: who never waited may do so when events are rebuilt.
func (i *treeItem) means() []uint64 {
	m := make([]uint64, regimesOf(i.kind))
	for r := range m {
		m[r] = i.spells[r].mean()
	}
	if len(m) > 1 {
		switch {
		case i.spells[free].count == 0:
			m[free] = m[blocked]
		case i.spells[blocked].count == 0:
			m[blocked] = m[free]
		}
	}
	return m
}

// file returns an item as a file has it, its peers relative if they can be.
func (i *treeItem) file(f *frame, l trace.LocationID) fileItem {
	out := fileItem{Kind: i.kind, Op: i.op, Ref: i.ref, Site: i.site, Shape: i.shape, Child: i.child, Body: i.body, Count: i.count()}
	if i.times != nil {
		out.Times = i.times.Formula()
	}
	if i.peer != nil {
		out.Peer, out.Tag, out.Size, out.Got = i.peer.Formula(), i.tag.Formula(), i.size.Formula(), i.got.Formula()
		if i.kind.Table() == trace.TableP2P {
			out.Relative = f.formula(l, i.ref, &out.Peer)
		}
	}
	for _, v := range i.values {
		out.Values = append(out.Values, v.Formula())
	}
	return out
}

// formula makes the ranks of a formula relative, if all can be.
func (f *frame) formula(l trace.LocationID, comm uint32, p *Formula) bool {
	if p.Holds == Iteration {
		return false
	}
	lists := [][]Term{p.Prologue, p.Body}
	if p.Nested != nil {
		lists = [][]Term{p.Nested.Values}
	}
	for _, replace := range []bool{false, true} {
		for _, list := range lists {
			for i := range list {
				d, ok := f.relative(l, comm, uint32(list[i].Value))
				if !ok {
					return false
				}
				if replace {
					list[i].Value = uint64(d)
				}
			}
		}
	}
	return true
}
