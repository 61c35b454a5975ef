// Package model codes parts of the trace's model that partial results of several stages hold:
// findings, call trees, clock maps, sums by key.
package model

import (
	"maps"
	"slices"

	"tracekit/codec"
	"tracekit/spill"
	"tracekit/trace"
)

// Findings codes what a ledger says.
func Findings(c *codec.Coder, findings *[]trace.Finding) {
	codec.List(c, findings, func(f *trace.Finding) {
		codec.Text(c, &f.Code)
		codec.Number(c, &f.Count)
		codec.Number(c, &f.First.Location)
		codec.Number(c, &f.First.Seq)
		codec.Text(c, &f.First.File)
		codec.Number(c, &f.First.Offset)
		codec.Text(c, &f.Text)
	})
}

// Ledger codes a ledger; what is read is added to it.
func Ledger(c *codec.Coder, l *trace.Ledger) {
	findings := l.Findings()
	if Findings(c, &findings); c.Reading() {
		l.Merge(findings)
	}
}

// Tree codes a call tree; one that is read replaces it. What is read refers to callers before it, and
// to regions and source lines that exist.
func Tree(c *codec.Coder, d *trace.Defs, tree **trace.CallTree) {
	var nodes []trace.PathNode
	if c.Reading() {
		*tree = trace.NewCallTree()
	} else {
		nodes = (*tree).Nodes
	}
	regions, sites := codec.Below("region", len(d.Regions)), codec.Below("source line", len(d.SourceLocations)).Or(trace.None)
	codec.List(c, &nodes, func(n *trace.PathNode) {
		codec.Number(c, &n.Parent)
		codec.Number(c, &n.Region, regions)
		codec.Number(c, &n.Site, sites)
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
func Clock(c *codec.Coder, store *spill.Store, m *trace.ClockMap) {
	codec.List(c, &m.Offsets, func(o *trace.ClockOffset) {
		codec.Number(c, &o.Time)
		codec.Number(c, &o.Offset)
	})
	codec.Table(c, store, &m.Knots,
		codec.Numbers(func(k *trace.Knot) *int64 { return &k.Time }),
		codec.Numbers(func(k *trace.Knot) *int64 { return &k.Shift }))
}

// Map codes a map in ascending order of its keys: of each the item, which codes key and value. A key
// that is read twice is refused.
func Map[K comparable, V any](c *codec.Coder, m *map[K]V, order func(a, b K) int, item func(*K, *V)) {
	keys := slices.SortedFunc(maps.Keys(*m), order)
	if c.Reading() {
		*m = make(map[K]V)
	}
	codec.List(c, &keys, func(k *K) {
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
