package formulae

import "tracekit/trace"

// check checks that attributes are the last fields, that nodes are a tree, that items name what there is, and that items and
// their fields are those of their kinds.
func (t *fileTree) check() error {
	for _, fields := range t.Shapes {
		for i, f := range fields {
			if i > 0 && fields[i-1].IsAttribute && !f.IsAttribute {
				return errDamaged
			}
		}
	}
	for i := range t.Nodes {
		n := &t.Nodes[i]
		if len(n.Items) == 0 {
			return errDamaged
		}
		for k := range n.Items {
			if !t.sound(uint32(i), n, &n.Items[k]) {
				return errDamaged
			}
		}
	}
	return nil
}

func (t *fileTree) sound(node uint32, n *fileNode, i *fileItem) bool {
	if uint64(i.Shape) > uint64(len(t.Shapes)) || len(i.Values) != len(t.fields(i))-t.members(i) {
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
		if n := t.members(i); n == 0 || n > maxMembers {
			return false
		}
	}
	for _, b := range i.Body {
		if uint64(b) >= uint64(len(n.Items)) || b == 0 {
			return false
		}
	}
	return true
}

// maxMembers is the largest number of members of a metric.
const maxMembers = 255

// fields returns the fields of an item.
func (t *fileTree) fields(i *fileItem) []field {
	if i.Shape == 0 {
		return nil
	}
	return t.Shapes[i.Shape-1]
}

// members returns how many fields of an item are members of a metric.
func (t *fileTree) members(i *fileItem) (n int) {
	if i.Kind != trace.KindMetric {
		return 0
	}
	for _, f := range t.fields(i) {
		if !f.IsAttribute {
			n++
		}
	}
	return n
}

// check checks that the times are those of a tree.
func (t *fileTimes) check(tree *fileTree) error {
	means, counters := 0, 0
	for i := range tree.Nodes {
		for k := range tree.Nodes[i].Items {
			item := &tree.Nodes[i].Items[k]
			means += regimesOf(item.Kind)
			counters += tree.members(item)
		}
	}
	if len(t.Means) != means || len(t.Counters) != counters {
		return errDamaged
	}
	for i, l := range t.Laws {
		if l.Spell >= uint64(means) || i > 0 && l.Spell <= t.Laws[i-1].Spell || len(l.Quantiles) != len(lawLevels) {
			return errDamaged
		}
		for _, q := range l.Quantiles {
			if q > largestLawful {
				return errDamaged
			}
		}
	}
	return nil
}

// levels returns the quantiles of a law.
func (l *fileLaw) levels() []uint64 {
	out := make([]uint64, len(l.Quantiles))
	last := uint64(0)
	for i, d := range l.Quantiles {
		last += d
		out[i] = last
	}
	return out
}
