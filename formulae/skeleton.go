package formulae

import (
	"context"

	"tracekit/formulae/partners"
	"tracekit/trace"
)

// A Skeleton walks through the events of a location and tells the item of each: nodes and items are numbered in the order in which they
// come up first, and nothing is learned.
type Skeleton struct {
	tree  *CallTree
	first []uint32 // number of the first item of each node; nil while the tree grows
}

// NoItem is the number of an event that has no place in the tree.
const NoItem = beyond

// Skeletons makes trees of sequences, equal ones once. It may be used by several goroutines.
type Skeletons struct{ forest Forest }

// NewSkeletons returns an empty set.
func NewSkeletons() *Skeletons { return &Skeletons{Forest{trees: make(map[string]*Tree)}} }

// Tree returns the tree of a sequence, its formulae empty. The error is that of reading it, or of the context.
func (s *Skeletons) Tree(ctx context.Context, events Sequence) (*Tree, error) {
	k := newSkeleton()
	for next := events(); ; {
		b, err := next()
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return nil, err
		}
		if b == nil {
			return s.forest.Location(k.tree, 0).Tree, nil
		}
		k.tree.Add(b)
	}
}

func newSkeleton() *Skeleton {
	t := &CallTree{plain: true, release: partners.Never}
	t.addNode(0, trace.None, trace.None)
	return &Skeleton{tree: t}
}

// Walk begins to walk through the events of a finished tree.
func Walk(t *Tree) *Skeleton {
	s := newSkeleton()
	number := uint32(0)
	for n := range t.Nodes {
		s.first = append(s.first, number)
		number += uint32(len(t.Nodes[n].Items))
	}
	return s
}

// Visit yields the number of the item of each event of a batch, in the order of nodes and items, NoItem if it has none.
func (s *Skeleton) Visit(b *trace.Batch, yield func(r trace.Row, item uint32)) {
	t := s.tree
	t.shapes.attrs = attrCursor{attrs: &b.Attrs}
	for seq, r := range b.Events {
		t.event(b, seq, r)
		item := uint32(NoItem)
		if at := t.place; at.node != beyond && int(at.node) < len(s.first) {
			item = s.first[at.node] + at.item
		}
		yield(r, item)
	}
}

// Bare returns a location without formulae and loops: its tree is that of the skeleton of its events. It is
// made unless it is given.
func (l *Location) Bare(tree *Tree) Location {
	out := *l
	made := &Tree{Shapes: l.Tree.Shapes}
	out.Completions = nil
	out.Times.Means, out.Times.Laws, out.Sums, out.Far = nil, nil, nil, nil
	number, item := 0, 0 // of the interval, of the item
	renumbered := make(map[uint64]uint64)
	for n := range l.Tree.Nodes {
		node := l.Tree.Nodes[n]
		node.Items = nil
		for _, i := range l.Tree.Nodes[n].Items {
			regimes := partners.Regimes(i.Kind)
			if i.Body == nil {
				for r := range regimes {
					renumbered[uint64(number+r)] = uint64(len(out.Times.Means))
					out.Times.Means = append(out.Times.Means, l.Times.Means[number+r])
					out.Sums = append(out.Sums, l.Sums[number+r])
				}
				if l.Completions != nil {
					out.Completions = append(out.Completions, l.Completions[item])
				}
				if tree == nil {
					node.Items = append(node.Items, Item{Kind: i.Kind, Op: i.Op, Ref: i.Ref, Site: i.Site, Shape: i.Shape, Child: i.Child,
						Count: i.Count})
				}
			}
			number, item = number+regimes, item+1
		}
		node.Branch.Prologue, node.Branch.Body, node.Branch.Nested = nil, nil, nil
		made.Nodes = append(made.Nodes, node)
	}
	if out.Tree = tree; tree == nil {
		out.Tree = made
	}
	for _, far := range l.Far {
		far.Interval = uint32(renumbered[uint64(far.Interval)])
		out.Far = append(out.Far, far)
	}
	for _, law := range l.Times.Laws {
		law.Interval = renumbered[law.Interval]
		out.Times.Laws = append(out.Times.Laws, law)
	}
	return out
}
