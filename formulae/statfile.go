package formulae

import (
	"context"
	"encoding/binary"
	"io"
	"math/bits"

	"tracekit/engine"
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
	Ref      uint32 // region or communicator
	Site     uint32 // calling context
	Child    uint32
	Body     []uint32 // of a loop: items
	Count    uint64   // of the intervals before it
	Relative bool     // Peer holds differences to the own rank, see frame.relative

	// see treeItem
	Peer, Tag, Size, Got, Times Formula
}

// A fileTimes is what differs between locations with the same call tree.
type fileTimes struct {
	First int64    // of all events
	Means []uint64 // of the intervals before the items, node by node, in 1/16 ticks
}

// meanUnit is the unit of means: so many make a tick.
const meanUnit = 16

// file returns a call tree as a file has it.
func (t *callTree) file(f *frame, l trace.LocationID) (nodes []fileNode, times fileTimes) {
	times.First = t.first
	for _, n := range t.nodes {
		out := fileNode{Parent: n.parent, Region: n.region, Context: n.context, Visits: n.visits, Branch: n.branch.Formula()}
		for _, i := range n.items {
			out.Items = append(out.Items, i.file(f, l))
			times.Means = append(times.Means, i.mean())
		}
		nodes = append(nodes, out)
	}
	return nodes, times
}

// file returns an item as a file has it, its peers relative if they can be.
func (i *treeItem) file(f *frame, l trace.LocationID) fileItem {
	out := fileItem{Kind: i.kind, Op: i.op, Ref: i.ref, Site: i.site, Child: i.child, Body: i.body, Count: i.count}
	if i.times != nil {
		out.Times = i.times.Formula()
	}
	if i.peer != nil {
		out.Peer, out.Tag, out.Size, out.Got = i.peer.Formula(), i.tag.Formula(), i.size.Formula(), i.got.Formula()
		if i.kind.Table() == trace.TableP2P {
			out.Relative = f.formula(l, i.ref, &out.Peer)
		}
	}
	return out
}

// A fileTree is a call tree with all lengths that grow with the run taken out: Counts holds
// each different number once, and nodes and items have indexes into it.
type fileTree struct {
	Counts []uint64
	Nodes  []fileNode
}

// newFileTree takes lengths out of the nodes: how often they were visited, how many items
// there are, how long sequences are. The length of an item's formula follows from its
// Count, that of the last term from the length of the formula.
func newFileTree(nodes []fileNode) *fileTree {
	t := &fileTree{Nodes: nodes}
	index := make(map[uint64]uint64)
	number := func(n *uint64) {
		i, ok := index[*n]
		if !ok {
			i = uint64(len(t.Counts))
			index[*n] = i
			t.Counts = append(t.Counts, *n)
		}
		*n = i
	}
	for i := range nodes {
		n := &nodes[i]
		number(&n.Visits)
		seen := n.Branch.Seen
		n.Branch.unmeasure(seen)
		n.Branch.Seen = seen
		number(&n.Branch.Seen)
		for k := range n.Items {
			item := &n.Items[k]
			for _, f := range item.formulae() {
				f.unmeasure(item.Count)
			}
			number(&item.Count)
		}
	}
	return t
}

// restore puts the lengths back; ok is false if there is no such count.
func (t *fileTree) restore() (ok bool) {
	ok = true
	number := func(i *uint64) {
		if *i >= uint64(len(t.Counts)) {
			ok = false
			return
		}
		*i = t.Counts[*i]
	}
	for i := range t.Nodes {
		n := &t.Nodes[i]
		number(&n.Visits)
		number(&n.Branch.Seen)
		seen := n.Branch.Seen
		n.Branch.Seen = 0
		n.Branch.measure(seen)
		for k := range n.Items {
			item := &n.Items[k]
			number(&item.Count)
			for _, f := range item.formulae() {
				f.measure(item.Count)
			}
		}
	}
	return ok
}

// formulae returns the formulae of an item; those that its kind has no use for are empty.
func (i *fileItem) formulae() []*Formula {
	return []*Formula{&i.Peer, &i.Tag, &i.Size, &i.Got, &i.Times}
}

// unmeasure replaces lengths by differences to what they are as a rule: Seen to seen,
// Count to Seen, the count of the last term of runs to what is left for it.
func (f *Formula) unmeasure(seen uint64) {
	if last := f.last(); last != nil {
		last.Count -= f.Count - f.before()
	}
	f.Count = f.Seen - f.Count
	f.Seen -= seen
}

// measure is the inverse of unmeasure.
func (f *Formula) measure(seen uint64) {
	f.Seen += seen
	f.Count = f.Seen - f.Count
	if last := f.last(); last != nil {
		last.Count += f.Count - f.before()
	}
}

// last returns the last term of runs, before the values of those before it.
func (f *Formula) last() *Term {
	if f.Holds > General || len(f.Prologue) == 0 {
		return nil
	}
	return &f.Prologue[len(f.Prologue)-1]
}

// before returns the number of values before the last term.
func (f *Formula) before() (n uint64) {
	for _, t := range f.Prologue[:len(f.Prologue)-1] {
		n += t.Count
	}
	return n
}

// mean returns the mean interval before an item, in 1/meanUnit ticks.
func (i *treeItem) mean() uint64 {
	hi, lo := bits.Mul64(i.time, meanUnit)
	if i.count == 0 || hi >= i.count {
		return 0
	}
	q, _ := bits.Div64(hi, lo, i.count)
	return q
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

// Bytes that parts of a file in stat mode take at most: numbers are below 2^64, each costs
// at most numberBytes.
const (
	numberBytes   = 10
	headBytes     = 1 << 12 // sections' heads, and models that have learned nothing yet
	formulaFixed  = 12
	perTerm       = 4 // numbers: value and count, twice because loops have both items and counts
	itemFixed     = 10
	nodeFixed     = 6
	locationFixed = 64
)

// bound returns the size that a file in stat mode cannot exceed beside its definitions: it
// depends on the constructs of each location and on the memory allowed, not on how often
// they were visited.
func bound(trees []*callTree, terms int) int64 {
	formula := int64(numberBytes * (formulaFixed + perTerm*terms))
	total := int64(headBytes)
	for _, t := range trees {
		total += locationFixed
		for _, n := range t.nodes {
			total += nodeFixed*numberBytes + formula
			for _, i := range n.items {
				total += int64(itemFixed+len(i.body)) * numberBytes
				if i.peer != nil {
					total += 4 * formula
				}
				if i.times != nil {
					total += formula
				}
			}
		}
	}
	return total
}

// statistics makes the call trees of all locations and writes them.
func (c *compressor) statistics(ctx context.Context, w io.Writer) (*Report, error) {
	trees, err := c.trees(ctx)
	if err != nil {
		return nil, err
	}
	s, err := c.begin(w, &head{Mode: uint64(Statistics), Unit: 1, Leader: trace.None})
	if err != nil {
		return nil, err
	}
	classes, err := c.writeTrees(s, trees)
	if err != nil {
		return nil, err
	}
	if err := s.write(sectionEnd, 0, nil); err != nil {
		return nil, err
	}
	r := c.report(s)
	limit := bound(trees, c.terms()) + r.Sizes.Definitions
	r.Sizes.Bound = &limit
	r.Sizes.Structure += s.bytes[sectionStatistics]
	r.Ranks.RankClasses = classes
	r.Learned = learnedOf(trees)
	for _, t := range trees {
		r.Dropped += t.dropped
	}
	return r, nil
}

func (c *compressor) trees(ctx context.Context) ([]*callTree, error) {
	stage := statistics{c.terms()}
	return engine.Each(ctx, c.src, engine.Options{Jobs: c.opts.Jobs, Progress: c.opts.Progress},
		func(ctx context.Context, l trace.LocationID, b engine.Batches) (*callTree, error) {
			return stage.Map(ctx, c.src.Defs(), l, b)
		})
}

func (c *compressor) terms() int {
	if c.opts.Terms == 0 {
		return DefaultTerms
	}
	return c.opts.Terms
}

// writeTrees writes each different call tree once, before the times of the first location
// that has it.
func (c *compressor) writeTrees(s *sectionWriter, trees []*callTree) (classes int, err error) {
	f := newFrame(c.src.Defs())
	known := make(map[string]uint64)
	for l, t := range trees {
		nodes, times := t.file(f, trace.LocationID(l))
		block := pack(c.tables, newFileTree(nodes))
		id, ok := known[string(block)]
		if !ok {
			id = uint64(len(known))
			known[string(block)] = id
			if err := s.write(sectionStatistics, id, block); err != nil {
				return 0, err
			}
		}
		payload := append(binary.AppendUvarint(nil, id), pack(c.tables, &times)...)
		if err := s.write(sectionEvents, uint64(l), payload); err != nil {
			return 0, err
		}
	}
	return len(known), nil
}
