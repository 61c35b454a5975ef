package formulae

import (
	"tracekit/formulae/internal/pack"
	"tracekit/formulae/sequence"
	"tracekit/trace"
)

// TreeLayout is how a call tree is packed.
func TreeLayout() pack.Column[Tree] {
	return pack.Record(2,
		pack.In(func(t *Tree) *[][]Field { return &t.Shapes }, pack.Lists(pack.Lists(fieldLayout()))),
		pack.In(func(t *Tree) *[]Node { return &t.Nodes }, pack.Lists(nodeLayout())),
	)
}

func fieldLayout() pack.Column[Field] {
	return pack.Record(3,
		pack.Flag(func(f *Field) *bool { return &f.IsAttribute }),
		pack.Number(func(f *Field) *uint32 { return &f.Attribute }),
		pack.Number(func(f *Field) *trace.ValueType { return &f.Type }),
	)
}

func nodeLayout() pack.Column[Node] {
	return pack.Record(6,
		pack.Number(func(n *Node) *uint32 { return &n.Parent }),
		pack.Number(func(n *Node) *uint32 { return &n.Region }),
		pack.Number(func(n *Node) *uint32 { return &n.Context }),
		pack.Number(func(n *Node) *uint64 { return &n.Visits }),
		pack.In(func(n *Node) *sequence.Formula { return &n.Branch }, formulaLayout()),
		pack.In(func(n *Node) *[]Item { return &n.Items }, pack.Lists(itemLayout())),
	)
}

func itemLayout() pack.Column[Item] {
	return pack.Record(15,
		pack.Number(func(i *Item) *trace.Kind { return &i.Kind }),
		pack.Number(func(i *Item) *trace.CollectiveOp { return &i.Op }),
		pack.Number(func(i *Item) *uint32 { return &i.Ref }),
		pack.Number(func(i *Item) *uint32 { return &i.Site }),
		pack.Number(func(i *Item) *uint32 { return &i.Shape }),
		pack.Number(func(i *Item) *uint32 { return &i.Child }),
		pack.In(func(i *Item) *[]uint32 { return &i.Body }, pack.Lists(pack.Numbers[uint32]())),
		pack.Number(func(i *Item) *uint64 { return &i.Count }),
		pack.Flag(func(i *Item) *bool { return &i.Relative }),
		pack.In(func(i *Item) *sequence.Formula { return &i.Peer }, formulaLayout()),
		pack.In(func(i *Item) *sequence.Formula { return &i.Tag }, formulaLayout()),
		pack.In(func(i *Item) *sequence.Formula { return &i.Size }, formulaLayout()),
		pack.In(func(i *Item) *sequence.Formula { return &i.Got }, formulaLayout()),
		pack.In(func(i *Item) *sequence.Formula { return &i.Times }, formulaLayout()),
		pack.In(func(i *Item) *[]sequence.Formula { return &i.Values }, pack.Lists(formulaLayout())),
	)
}

func formulaLayout() pack.Column[sequence.Formula] {
	return pack.Record(11,
		pack.Number(func(f *sequence.Formula) *sequence.Kind { return &f.Kind }),
		pack.Number(func(f *sequence.Formula) *sequence.Kind { return &f.Holds }),
		pack.Number(func(f *sequence.Formula) *uint64 { return &f.Seen }),
		pack.Number(func(f *sequence.Formula) *uint64 { return &f.Count }),
		pack.Number(func(f *sequence.Formula) *uint64 { return &f.Sum }),
		pack.In(func(f *sequence.Formula) *[]sequence.Term { return &f.Prologue }, pack.Lists(termLayout())),
		pack.In(func(f *sequence.Formula) *[]sequence.Term { return &f.Body }, pack.Lists(termLayout())),
		pack.Number(func(f *sequence.Formula) *uint64 { return &f.Start }),
		pack.Number(func(f *sequence.Formula) *uint64 { return &f.Step }),
		pack.Number(func(f *sequence.Formula) *uint64 { return &f.Length }),
		pack.In(func(f *sequence.Formula) **sequence.Nested { return &f.Nested }, pack.Optional(nestedLayout)),
	)
}

func termLayout() pack.Column[sequence.Term] {
	return pack.Record(2,
		pack.Number(func(t *sequence.Term) *uint64 { return &t.Value }),
		pack.Number(func(t *sequence.Term) *uint64 { return &t.Count }),
	)
}

func nestedLayout() pack.Column[sequence.Nested] {
	return pack.Record(4,
		pack.In(func(n *sequence.Nested) *[]sequence.Term { return &n.Values }, pack.Lists(termLayout())),
		pack.In(func(n *sequence.Nested) *[][]uint32 { return &n.Bodies }, pack.Lists(pack.Lists(pack.Numbers[uint32]()))),
		pack.In(func(n *sequence.Nested) *[]sequence.Formula { return &n.Counts }, pack.Lists(formulaLayout())),
		pack.In(func(n *sequence.Nested) *sequence.Formula { return &n.Top }, formulaLayout()),
	)
}
