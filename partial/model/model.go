// Package model codes parts of the trace's model that partial results of several stages hold:
// findings, call trees, clock maps, sums by key.
package model

import (
	"maps"
	"slices"

	"tracekit/partial"
	"tracekit/spill"
	"tracekit/trace"
)

// Findings codes what a ledger says.
func Findings(c *partial.Coder, findings *[]trace.Finding) {
	partial.List(c, findings, func(f *trace.Finding) {
		partial.Text(c, &f.Code)
		partial.Number(c, &f.Count)
		partial.Number(c, &f.First.Location)
		partial.Number(c, &f.First.Seq)
		partial.Text(c, &f.First.File)
		partial.Number(c, &f.First.Offset)
		partial.Text(c, &f.Text)
	})
}

// Ledger codes a ledger; what is read is added to it.
func Ledger(c *partial.Coder, l *trace.Ledger) {
	findings := l.Findings()
	if Findings(c, &findings); c.Reading() {
		l.Merge(findings)
	}
}

// Tree codes a call tree; one that is read replaces it. What is read refers to callers before it, and
// to regions and source lines that exist.
func Tree(c *partial.Coder, d *trace.Defs, tree **trace.CallTree) {
	var nodes []trace.PathNode
	if c.Reading() {
		*tree = trace.NewCallTree()
	} else {
		nodes = (*tree).Nodes
	}
	regions, sites := partial.Below("region", len(d.Regions)), partial.Below("source line", len(d.SourceLocations)).Or(trace.None)
	partial.List(c, &nodes, func(n *trace.PathNode) {
		partial.Number(c, &n.Parent)
		partial.Number(c, &n.Region, regions)
		partial.Number(c, &n.Site, sites)
		if !c.Reading() || c.Err() != nil {
			return
		}
		at := len((*tree).Nodes)
		if n.Parent != trace.None && int(n.Parent) >= at || int((*tree).Add(*n)) != at {
			c.Refuse("call path %d is called by a later one, or is there twice", at)
		}
	})
}

// Clock codes a clock map, without the deviations of its offsets, which change no time. Knots that
// are read lie in the store.
func Clock(c *partial.Coder, store *spill.Store, m *trace.ClockMap) {
	partial.List(c, &m.Offsets, func(o *trace.ClockOffset) {
		partial.Number(c, &o.Time)
		partial.Number(c, &o.Offset)
	})
	partial.Table(c, store, &m.Knots,
		partial.Numbers(func(k *trace.Knot) *int64 { return &k.Time }),
		partial.Numbers(func(k *trace.Knot) *int64 { return &k.Shift }))
}

// Map codes a map in ascending order of its keys: of each the item, which codes key and value. A key
// that is read twice is refused.
func Map[K comparable, V any](c *partial.Coder, m *map[K]V, order func(a, b K) int, item func(*K, *V)) {
	keys := slices.SortedFunc(maps.Keys(*m), order)
	if c.Reading() {
		*m = make(map[K]V)
	}
	partial.List(c, &keys, func(k *K) {
		v := (*m)[*k]
		item(k, &v)
		if !c.Reading() || c.Err() != nil {
			return
		}
		if _, twice := (*m)[*k]; twice {
			c.Refuse("a sum is there twice")
		}
		(*m)[*k] = v
	})
}
