package nest

import "tracekit/trace"

// What an outline may hold. Deeper or wider call paths, of programs that recurse without end, are read again instead.
const (
	outlineDepth = 1 << 10 // regions inside one another
	outlineNodes = 1 << 12 // call paths
)

// An Outline is what a survey sees of the events of a sub-track that does not communicate, in the numbers of the file.
type Outline struct {
	paths       []trace.PathNode // in order of their first event, without sites
	first, last int64
	events      uint64
	shift       *int64 // the set's
}

// In returns the outline in the numbers of the trace.
func (o *Outline) In(ids *IDs) *trace.Outline {
	out := &trace.Outline{Tree: trace.NewCallTree(), Span: trace.Span{Events: o.events}}
	if o.events > 0 {
		out.Span.First, out.Span.Last = AddTime(o.first, *o.shift), AddTime(o.last, *o.shift)
	}
	local := make([]trace.PathID, len(o.paths))
	for i, n := range o.paths {
		if n.Parent != trace.None {
			n.Parent = local[n.Parent]
		}
		n.Region = ids.region(n.Region)
		local[i] = out.Tree.Add(n)
	}
	return out
}

// A sketch makes an outline.
type sketch struct {
	tree  *trace.CallTree
	cache *trace.PathCache // of several sketches
	key   uint32
}

// draw finds the path of a slice that is about to be opened.
func (n *nester) draw(v *visit) {
	k := n.sketch
	node := trace.PathNode{Parent: trace.None, Region: v.region, Site: trace.SourceLocationID(k.key)}
	if len(n.stack) > 0 {
		node.Parent = n.stack[len(n.stack)-1].path
	}
	if path, known := k.cache.Lookup(node); known {
		v.path = trace.PathID(path)
		return
	}
	if len(n.stack) >= outlineDepth || len(k.tree.Nodes) >= outlineNodes {
		n.sketch = nil
		return
	}
	v.path = k.tree.Add(trace.PathNode{Parent: node.Parent, Region: v.region, Site: trace.None})
	k.cache.Remember(node, uint32(v.path))
}

// outline lets the nester make one. Sketches with one cache have a key each.
func (n *nester) outline(cache *trace.PathCache, key uint32) {
	n.sketch = &sketch{tree: trace.NewCallTree(), cache: cache, key: key}
}

// outlined returns the outline of all events; nil: something communicates, or stays open.
func (n *nester) outlined() *Outline {
	if n.sketch == nil || len(n.stack) > 0 {
		return nil
	}
	return &Outline{paths: n.sketch.tree.Nodes, first: n.first, last: n.last, events: n.events, shift: &n.s.Shift}
}
