package model

import (
	"fmt"

	"tracekit/codec"
	"tracekit/trace"
)

// Results are what a stage has made of some or all locations of a trace, of each on its own.
type Results[T any] struct {
	Of       []*T            // by location; nil: nothing was made of it
	Findings []trace.Finding // of the source, noticed while it read these locations
}

// Has reports whether there is something of a location.
func (r *Results[T]) Has(l trace.LocationID) bool { return int(l) < len(r.Of) && r.Of[l] != nil }

// Add adds what was made of other locations of the same trace; an error says which location both
// have.
func (r *Results[T]) Add(other *Results[T]) error {
	if r.Of == nil {
		r.Of = make([]*T, len(other.Of))
	}
	for l, x := range other.Of {
		switch {
		case x == nil:
		case r.Of[l] != nil:
			return fmt.Errorf("location %d is there twice", l)
		default:
			r.Of[l] = x
		}
	}
	var ledger trace.Ledger
	ledger.Merge(r.Findings)
	ledger.Merge(other.Findings)
	r.Findings = ledger.Findings()
	return nil
}

// Missing returns an error that names the first location of which there is nothing, if there is one.
func (r *Results[T]) Missing(d *trace.Defs) error {
	for l := range d.Locations {
		if !r.Has(trace.LocationID(l)) {
			return fmt.Errorf("location %d is missing", l)
		}
	}
	return nil
}

// Code codes the results, each by item.
func (r *Results[T]) Code(c *codec.Coder, d *trace.Defs, item func(trace.LocationID, *T)) {
	if c.Reading() {
		r.Of = make([]*T, len(d.Locations))
	}
	var there []trace.LocationID
	for l, x := range r.Of {
		if x != nil {
			there = append(there, trace.LocationID(l))
		}
	}
	locations := codec.Below("location", len(r.Of)).Ascending(1)
	codec.List(c, &there, func(l *trace.LocationID) {
		if codec.Number(c, l, locations); c.Err() != nil {
			return
		}
		if c.Reading() {
			r.Of[*l] = new(T)
		}
		item(*l, r.Of[*l])
	})
	Findings(c, &r.Findings)
}
