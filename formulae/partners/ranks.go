// Package partners knows whom calls communicate with: by ranks relative to the own one, and until when they wait for them.
package partners

import (
	"tracekit/formulae/sequence"
	"tracekit/trace"
)

// Ranks know the rank of each location in each communicator, so that partners can be
// expressed relative to it (docs/DEFINITIONS.md 1.4).
type Ranks struct {
	defs  *trace.Defs
	ranks []uint32
	world uint32
	index []map[uint32]uint32 // by group: position of a member
}

// RanksOf looks every member of every communicator up once.
func RanksOf(d *trace.Defs) *Ranks {
	m := &Ranks{defs: d, ranks: d.Ranks(), world: uint32(len(d.World())), index: make([]map[uint32]uint32, len(d.Groups))}
	for _, c := range d.Comms {
		if c.Inter || c.Group == trace.None || d.Groups[c.Group].Kind != trace.GroupComm || m.index[c.Group] != nil {
			continue
		}
		members := make(map[uint32]uint32, len(d.Groups[c.Group].Members))
		for i, world := range d.Groups[c.Group].Members {
			members[world] = uint32(i)
		}
		m.index[c.Group] = members
	}
	return m
}

// Rank returns the rank of a location in a communicator and the communicator's size; ok
// is false if it has none.
func (m *Ranks) Rank(location trace.LocationID, comm uint32) (rank, size uint32, ok bool) {
	world := m.ranks[location]
	if world == trace.None || uint64(comm) >= uint64(len(m.defs.Comms)) {
		return 0, 0, false
	}
	c := m.defs.Comms[comm]
	if c.Inter || c.Group == trace.None {
		return 0, 0, false
	}
	g := &m.defs.Groups[c.Group]
	switch {
	case g.Kind == trace.GroupCommLocations || g.Flags&trace.GroupGlobalMembers != 0:
		return world, m.world, true
	case g.Kind == trace.GroupComm:
		rank, ok = m.index[c.Group][world]
		return rank, uint32(len(g.Members)), ok
	}
	return 0, 0, false
}

// Relative returns a partner's rank as the difference to the own one, modulo the size of
// the communicator, from the nearer side; ok is false if there is none.
func (m *Ranks) Relative(location trace.LocationID, comm, peer uint32) (difference int64, ok bool) {
	self, size, ok := m.Rank(location, comm)
	if !ok || peer >= size {
		return 0, false
	}
	d := (int64(peer) - int64(self) + int64(size)) % int64(size)
	if d > int64(size)/2 {
		d -= int64(size)
	}
	return d, true
}

// Absolute is the inverse of Relative.
func (m *Ranks) Absolute(location trace.LocationID, comm uint32, difference int64) (peer uint32, ok bool) {
	self, size, ok := m.Rank(location, comm)
	if !ok || size == 0 {
		return 0, false
	}
	d := (int64(self) + difference%int64(size)) % int64(size)
	if d < 0 {
		d += int64(size)
	}
	return uint32(d), true
}

// Relate makes the ranks of a formula relative, if all can be.
func (m *Ranks) Relate(l trace.LocationID, comm uint32, p *sequence.Formula) bool {
	if p.Holds == sequence.Iteration {
		return false
	}
	lists := [][]sequence.Term{p.Prologue, p.Body}
	if p.Nested != nil {
		lists = [][]sequence.Term{p.Nested.Values}
	}
	for _, replace := range []bool{false, true} {
		for _, list := range lists {
			for i := range list {
				d, ok := m.Relative(l, comm, uint32(list[i].Value))
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
