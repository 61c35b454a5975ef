package formulae

import "tracekit/trace"

// A frame knows the rank of each location in each communicator, so that partners can be
// told relative to oneself: (peer − self) modulo the communicator's size, from the nearer
// side (docs/DEFINITIONS.md 1.4).
type frame struct {
	defs  *trace.Defs
	ranks []uint32
	world uint32
	index []map[uint32]uint32 // by group: position of a member
}

// newFrame looks every member of every communicator up once.
func newFrame(d *trace.Defs) *frame {
	f := &frame{defs: d, ranks: d.Ranks(), world: uint32(len(d.World())), index: make([]map[uint32]uint32, len(d.Groups))}
	for _, c := range d.Comms {
		if c.Inter || c.Group == trace.None || d.Groups[c.Group].Kind != trace.GroupComm || f.index[c.Group] != nil {
			continue
		}
		members := make(map[uint32]uint32, len(d.Groups[c.Group].Members))
		for i, m := range d.Groups[c.Group].Members {
			members[m] = uint32(i)
		}
		f.index[c.Group] = members
	}
	return f
}

// self returns the rank of a location in a communicator and the communicator's size; ok
// is false if it has none.
func (f *frame) self(location trace.LocationID, comm uint32) (rank, size uint32, ok bool) {
	world := f.ranks[location]
	if world == trace.None || uint64(comm) >= uint64(len(f.defs.Comms)) {
		return 0, 0, false
	}
	c := f.defs.Comms[comm]
	if c.Inter || c.Group == trace.None {
		return 0, 0, false
	}
	g := &f.defs.Groups[c.Group]
	switch {
	case g.Kind == trace.GroupCommLocations || g.Flags&trace.GroupGlobalMembers != 0:
		return world, f.world, true
	case g.Kind == trace.GroupComm:
		rank, ok = f.index[c.Group][world]
		return rank, uint32(len(g.Members)), ok
	}
	return 0, 0, false
}

// relative returns a partner's rank as the difference to the own one, modulo the size of
// the communicator, zigzag.
func (f *frame) relative(location trace.LocationID, comm, peer uint32) (uint32, bool) {
	self, size, ok := f.self(location, comm)
	if !ok || peer >= size {
		return 0, false
	}
	d := (int64(peer) - int64(self) + int64(size)) % int64(size)
	if d > int64(size)/2 {
		d -= int64(size)
	}
	return uint32(zigzag(d)), true
}

// absolute is the inverse of relative.
func (f *frame) absolute(location trace.LocationID, comm, difference uint32) (uint32, bool) {
	self, size, ok := f.self(location, comm)
	if !ok || size == 0 {
		return 0, false
	}
	d := (int64(self) + unzigzag(uint64(difference))) % int64(size)
	if d < 0 {
		d += int64(size)
	}
	return uint32(d), true
}
