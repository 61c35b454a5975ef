package formulae

import (
	"fmt"
	"math"
	"math/bits"
	"strconv"
	"strings"

	"tracekit/formulae/sequence"
	"tracekit/trace"
)

// An AnnotatedTree is the call tree of the locations that share it, with what is known of
// each call path (the paper's figure 6).
type AnnotatedTree struct {
	Locations []uint32        `json:"locations"`
	Nodes     []AnnotatedNode `json:"nodes"` // parents before children; the first is the location itself

	key string // equal for trees that are the same but for their times
}

// An AnnotatedNode is a call path.
type AnnotatedNode struct {
	Parent *int   `json:"parent"` // index of the caller; null for the first
	Depth  int    `json:"depth"`
	Name   string `json:"name"` // of the region
	Site   string `json:"site"` // file:line of the call; "" if it was not recorded
	Visits uint64 `json:"visits"`

	// Time in the call path on each of the locations, in ns: with the calls below it, and
	// without. Waiting is included.
	InclusiveNs []int64 `json:"inclusive_ns"`
	ExclusiveNs []int64 `json:"exclusive_ns"`

	Sequences []AnnotatedSequence `json:"sequences"`
}

// An AnnotatedSequence is a formula and its subject (the paper's table 4).
type AnnotatedSequence struct {
	Category string `json:"category"`
	Of       string `json:"of"`   // the events: a loop, a kind of event, a call
	What     string `json:"what"` // of these: to, from, tag, bytes …
	Kind     string `json:"kind"` // identity, general, iteration, cycle, failed
	Formula  string `json:"formula"`
	Terms    int    `json:"terms"`
	Values   uint64 `json:"values"`
	Learned  uint64 `json:"learned"`  // of these, by the formula: fewer if it failed
	Relative bool   `json:"relative"` // partners are ranks relative to the own one

	// Constant says that it is an argument or an attribute that never changes.
	Constant bool `json:"-"`
}

// Annotate returns the distinct call trees of a trace, in the order of the first location that has
// each.
func Annotate(defs *trace.Defs, locations []Location) []AnnotatedTree {
	var out []AnnotatedTree
	index := make(map[string]int)
	for l := range locations {
		t := annotate(defs, locations[l].Tree)
		at, ok := index[t.key]
		if !ok {
			at = len(out)
			index[t.key] = at
			out = append(out, t)
		}
		out[at].add(defs, uint32(l), &locations[l])
	}
	return out
}

// annotate writes down what does not depend on the location.
func annotate(defs *trace.Defs, tree *Tree) (t AnnotatedTree) {
	var key strings.Builder
	for n := range tree.Nodes {
		node := &tree.Nodes[n]
		a := AnnotatedNode{Name: "(location)", Visits: max(node.Visits, 1), InclusiveNs: []int64{}, ExclusiveNs: []int64{},
			Sequences: []AnnotatedSequence{}}
		if n > 0 {
			parent := int(node.Parent)
			a.Parent, a.Depth = &parent, 1
			if parent < n {
				a.Depth += t.Nodes[parent].Depth
			}
			a.Name, a.Site = defs.RegionLabel(trace.RegionID(node.Region)), siteOf(defs, node.Context)
		}
		if node.calls() {
			a.add(tree, defs, node, construct{Formula: &node.Branch, category: branches})
		}
		for k := range node.Items {
			for s := range node.Items[k].sequences() {
				s.item = k
				a.add(tree, defs, node, s)
			}
		}
		fmt.Fprintln(&key, node.Parent, a.Name, a.Site, a.Visits, a.Sequences)
		t.Nodes = append(t.Nodes, a)
	}
	t.key = key.String()
	return t
}

// siteOf returns where a calling context is called.
func siteOf(defs *trace.Defs, context uint32) string {
	at := defs.SiteOf(trace.CallingContextID(context))
	if uint64(at) >= uint64(len(defs.SourceLocations)) {
		return ""
	}
	s := &defs.SourceLocations[at]
	return defs.String(s.File) + ":" + strconv.FormatUint(uint64(s.Line), 10)
}

// add adds the times of a location.
func (t *AnnotatedTree) add(defs *trace.Defs, l uint32, from *Location) {
	t.Locations = append(t.Locations, l)
	inclusive := make([]uint64, len(t.Nodes))
	for n := len(t.Nodes) - 1; n >= 0; n-- {
		node := &t.Nodes[n]
		own := uint64(0)
		if n < len(from.Times.Spent) {
			own = total(from.Times.Spent[n], max(node.Visits, 1))
		}
		inclusive[n] += own
		if p := node.Parent; p != nil && *p < n {
			inclusive[*p] += inclusive[n]
		}
		node.ExclusiveNs = append(node.ExclusiveNs, defs.Clock.Nanoseconds(int64(min(own, math.MaxInt64))))
		node.InclusiveNs = append(node.InclusiveNs, defs.Clock.Nanoseconds(int64(min(inclusive[n], math.MaxInt64))))
	}
}

// total is the inverse of Mean: mean·count in ticks, the largest number if it is out of range.
func total(mean, count uint64) uint64 {
	hi, lo := bits.Mul64(mean, count)
	if hi >= MeanUnit {
		return math.MaxUint64
	}
	q, _ := bits.Div64(hi, lo, MeanUnit)
	return q
}

// add adds a sequence of an item.
func (a *AnnotatedNode) add(t *Tree, defs *trace.Defs, n *Node, s construct) {
	i := &n.Items[s.item]
	out := AnnotatedSequence{Category: s.category.String(), Of: t.itemName(defs, n, uint64(s.item)), Kind: s.Kind.String(),
		Terms: s.Terms(), Values: s.Seen, Learned: s.Count, Constant: s.category == fields && s.Kind == sequence.Identity}
	name, most := func(v uint64) string { return strconv.FormatUint(v, 10) }, uint64(sequence.FewSteps)
	switch s.category {
	case sendReceivers, recvSenders:
		out.What, out.Relative = "to", i.Relative
		if s.category == recvSenders {
			out.What = "from"
		}
		if i.Relative {
			name = relativeName
		}
	case sendTags, recvTags:
		out.What = "tag"
	case branches:
		out.Of, out.What = "", "calls"
		name, most = func(v uint64) string { return t.itemName(defs, n, v) }, maxBody // names, not steps from one to the next
	case iterations:
		out.What = out.Of + " = (" + strings.Join(t.bodyNames(defs, n, i), " ") + "), times"
	case sizes:
		out.What = "bytes"
		if s.Formula == &i.Got {
			out.What = "bytes received"
		} else if i.side() == collective {
			out.What = "bytes sent"
		}
	case roots:
		out.What = "root"
	case fields:
		out.What = t.fieldName(defs, i, s.Formula)
	}
	out.Formula = s.Notation(name, most)
	a.Sequences = append(a.Sequences, out)
}

// relativeName names a partner by its distance.
func relativeName(v uint64) string {
	switch d := int64(v); {
	case d == 0:
		return "self"
	default:
		return fmt.Sprintf("self%+d", d)
	}
}

// itemName names an item of a node: the call, the loop, the event, the return.
func (t *Tree) itemName(defs *trace.Defs, n *Node, item uint64) string {
	switch {
	case item == 0:
		return "return"
	case item >= uint64(len(n.Items)):
		return "?"
	}
	i := &n.Items[item]
	switch {
	case i.Kind == trace.KindEnter:
		name := defs.RegionLabel(trace.RegionID(i.Ref))
		if strings.ContainsAny(name, " ()^") {
			name = strconv.Quote(name)
		}
		return name
	case i.Body != nil:
		return "L" + strconv.FormatUint(item, 10)
	}
	return i.Kind.String()
}

// bodyNames names the items of a loop.
func (t *Tree) bodyNames(defs *trace.Defs, n *Node, i *Item) []string {
	var out []string
	for _, b := range i.Body {
		out = append(out, t.itemName(defs, n, uint64(b)))
	}
	return out
}

// fieldName names a field of an item's events.
func (t *Tree) fieldName(defs *trace.Defs, i *Item, f *sequence.Formula) string {
	fields := t.Fields(i)[t.Members(i):]
	for k := range i.Values {
		if &i.Values[k] != f || k >= len(fields) {
			continue
		}
		if a := fields[k]; a.IsAttribute && uint64(a.Attribute) < uint64(len(defs.Attributes)) {
			return "attribute " + defs.String(defs.Attributes[a.Attribute].Name)
		}
		if i.Kind == trace.KindEnter {
			return "unwind distance"
		}
		return "argument " + strconv.Itoa(k+1)
	}
	return ""
}
