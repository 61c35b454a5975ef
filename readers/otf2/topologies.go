package otf2

import (
	"fmt"
	"slices"

	"tracekit/trace"
)

// Numbers of the records of Cartesian topologies, which are also kept as they are.
const (
	defCartDimension  = 30
	defCartTopology   = 31
	defCartCoordinate = 32
)

// A cartesian collects the records of topologies, which may come in any order.
type cartesian struct {
	dimensions map[uint64][2]uint64 // size, periodicity
	grids      []cartRecord         // identifier, name, communicator
	places     []cartRecord         // topology, rank
}

// A cartRecord is one of a topology or of a coordinate: its values and its list.
type cartRecord struct{ values, list []uint64 }

// note keeps what a record says.
func (c *cartesian) note(kind uint8, r *record) {
	copied := func() cartRecord { return cartRecord{slices.Clone(r.values), slices.Clone(r.list)} }
	switch kind {
	case defCartDimension:
		if c.dimensions == nil {
			c.dimensions = make(map[uint64][2]uint64)
		}
		c.dimensions[r.values[0]] = [2]uint64{r.values[2], r.values[3]}
	case defCartTopology:
		c.grids = append(c.grids, copied())
	case defCartCoordinate:
		c.places = append(c.places, copied())
	}
}

// topologies makes the model's definitions, once all else is defined. Places outside of the
// grid, and of ranks that the communicator does not have, are left out with a finding.
func (d *defReader) topologies() {
	index := make(map[uint64]int)
	var members [][]trace.LocationID
	for _, g := range d.cart.grids {
		t := trace.Topology{Name: d.defs.String(d.str(g.values[1]))}
		for _, ref := range g.list {
			x, known := d.cart.dimensions[ref]
			if !known || x[0] == 0 {
				d.note(trace.CodeBadDefinition, fmt.Sprintf("CartTopology %d: dimension %d is not defined, or has no size", g.values[0], ref))
			}
			t.Sizes, t.Torus = append(t.Sizes, uint32(x[0])), append(t.Torus, x[1] != 0)
		}
		index[g.values[0]] = len(d.defs.Topologies)
		d.defs.Topologies = append(d.defs.Topologies, t)
		members = append(members, d.commLocations(d.ref(spaceComm, g.values[2])))
	}
	for _, p := range d.cart.places {
		i, known := index[p.values[0]]
		if !known || !d.place(&d.defs.Topologies[i], members[i], p) {
			d.note(trace.CodeBadDefinition, fmt.Sprintf("CartCoordinate of rank %d of topology %d: it has no such place", p.values[1], p.values[0]))
		}
	}
}

// place adds a place to a topology that has it.
func (d *defReader) place(t *trace.Topology, members []trace.LocationID, p cartRecord) bool {
	if p.values[1] >= uint64(len(members)) || len(p.list) != len(t.Sizes) || members[p.values[1]] == trace.None {
		return false
	}
	at := make([]uint32, len(p.list))
	for k, x := range p.list {
		if x >= uint64(t.Sizes[k]) {
			return false
		}
		at[k] = uint32(x)
	}
	t.Places = append(t.Places, trace.Coordinate{Location: members[p.values[1]], At: at})
	return true
}

// commLocations returns the locations of a communicator by rank.
func (d *defReader) commLocations(c uint32) []trace.LocationID {
	if c == trace.None || d.defs.Comms[c].Group == trace.None {
		return nil
	}
	g := &d.defs.Groups[d.defs.Comms[c].Group]
	out := make([]trace.LocationID, len(g.Members))
	all := d.defs.CommLocations(g.Paradigm)
	for i, m := range g.Members {
		out[i] = trace.LocationID(m)
		if g.Kind == trace.GroupComm {
			out[i] = trace.None
			if all != trace.None && int(m) < len(d.defs.Groups[all].Members) {
				out[i] = trace.LocationID(d.defs.Groups[all].Members[m])
			}
		}
	}
	return out
}
