package merge

import (
	"slices"

	"tracekit/trace"
)

// A resolver turns the rank in a communicator that an event names into a world rank.
type resolver struct {
	ranks []uint32 // world rank by location
	size  uint32   // of MPI_COMM_WORLD
	comms []comm
}

// A comm is a communicator as resolving needs it. Members and remote hold world ranks,
// None for those that do not exist.
type comm struct {
	kind    commKind
	members []uint32
	remote  []uint32          // the other group of an intercommunicator
	inverse map[uint32]uint32 // world rank to rank in members; remote ranks follow local ones; made on demand
}

type commKind uint8

const (
	commUnusable commKind = iota // no group that says who takes part
	commGroup                    // events name ranks of members
	commGlobal                   // events name world ranks (GLOBAL_MEMBERS)
	commSelf                     // every process alone with itself
	commInter                    // events name ranks of the group that the caller is not in
)

func newResolver(d *trace.Defs) *resolver {
	r := &resolver{ranks: d.Ranks(), size: uint32(len(d.World()))}
	r.comms = make([]comm, len(d.Comms))
	for i, c := range d.Comms {
		r.comms[i] = r.comm(d, c)
	}
	return r
}

func (r *resolver) comm(d *trace.Defs, c trace.Comm) comm {
	if int(c.Group) >= len(d.Groups) {
		return comm{}
	}
	g := &d.Groups[c.Group]
	if g.Paradigm == trace.ParadigmOpenMP { // its members are threads
		return comm{}
	}
	if c.Inter {
		if int(c.Remote) >= len(d.Groups) {
			return comm{}
		}
		inter := comm{kind: commInter, members: g.WorldRanks(r.ranks, r.size), remote: d.Groups[c.Remote].WorldRanks(r.ranks, r.size)}
		inter.index()
		return inter
	}
	switch {
	case g.Kind == trace.GroupCommSelf:
		return comm{kind: commSelf}
	case g.Kind == trace.GroupComm && g.Flags&trace.GroupGlobalMembers != 0:
		return comm{kind: commGlobal, members: g.WorldRanks(r.ranks, r.size)}
	}
	members := g.WorldRanks(r.ranks, r.size)
	if members == nil {
		return comm{}
	}
	return comm{kind: commGroup, members: members}
}

// index makes the inverse of the members.
func (c *comm) index() {
	c.inverse = make(map[uint32]uint32, len(c.members)+len(c.remote))
	n := uint32(0)
	for _, group := range [][]uint32{c.members, c.remote} {
		for _, world := range group {
			if _, ok := c.inverse[world]; !ok && world != trace.None {
				c.inverse[world] = n
			}
			n++
		}
	}
}

// member returns what peer does on a communicator whose events name ranks of its members, and
// None on others or if the peer cannot be told.
func (r *resolver) member(id trace.CommID, me, peer uint32) uint32 {
	if int(id) < len(r.comms) && me != trace.None {
		if c := &r.comms[id]; c.kind == commGroup && int(peer) < len(c.members) {
			return c.members[peer]
		}
	}
	return trace.None
}

// peer returns the world rank of the process that a process of world rank me calls peer
// on a communicator. code says what is wrong if it cannot be told.
func (r *resolver) peer(id trace.CommID, me, peer uint32) (world uint32, code trace.Code) {
	if int(id) >= len(r.comms) || me == trace.None {
		return trace.None, trace.CodeUnknownCommunicator
	}
	c := &r.comms[id]
	members := c.members
	switch c.kind {
	case commUnusable:
		return trace.None, trace.CodeUnknownCommunicator
	case commSelf:
		if peer != 0 {
			return trace.None, trace.CodeRankOutOfRange
		}
		return me, ""
	case commGlobal:
		if peer >= r.size {
			return trace.None, trace.CodeRankOutOfRange
		}
		return peer, ""
	case commInter:
		at, ok := c.inverse[me]
		if !ok {
			return trace.None, trace.CodeRankOutOfRange
		}
		if at < uint32(len(c.members)) {
			members = c.remote
		}
	}
	if peer >= uint32(len(members)) || members[peer] == trace.None {
		return trace.None, trace.CodeRankOutOfRange
	}
	return members[peer], ""
}

// rank returns the rank in a communicator of a process; ok is false if it is no member.
// The ranks of an intercommunicator's second group follow those of the first.
func (r *resolver) rank(id trace.CommID, world uint32) (rank uint32, ok bool) {
	c := &r.comms[id]
	if c.kind == commSelf {
		return 0, true
	}
	if world < uint32(len(c.members)) && c.members[world] == world && c.kind != commInter {
		return world, true // all communicators with the ranks of MPI_COMM_WORLD
	}
	if c.inverse == nil {
		c.index()
	}
	rank, ok = c.inverse[world]
	return rank, ok
}

// prepare makes what root looks up, so that several goroutines may call it for a
// communicator.
func (r *resolver) prepare(id trace.CommID) {
	if c := &r.comms[id]; c.kind == commGlobal && c.inverse == nil {
		c.index()
	}
}

// commSize returns the number of members of a communicator, both groups counted.
func (r *resolver) commSize(id trace.CommID) uint32 {
	c := &r.comms[id]
	if c.kind == commSelf {
		return 1
	}
	return uint32(len(c.members) + len(c.remote))
}

// count returns how many members each communicator has of the ranks that are marked.
func (r *resolver) count(marked []bool) []uint32 {
	out := make([]uint32, len(r.comms))
	if !slices.Contains(marked, true) {
		return out
	}
	for id := range r.comms {
		for _, rank := range slices.Concat(r.comms[id].members, r.comms[id].remote) {
			if int(rank) < len(marked) && marked[rank] {
				out[id]++
			}
		}
	}
	return out
}

// usable reports whether a communicator says who takes part in it.
func (r *resolver) usable(id trace.CommID) bool {
	return int(id) < len(r.comms) && r.comms[id].kind != commUnusable
}

// root returns the rank in the communicator of the root that a member of the given rank
// names. ok is false if what it names says nothing about it: RootThisGroup, that the root is
// in its own group of an intercommunicator, or RootNone for a rank that there is not.
func (r *resolver) root(id trace.CommID, rank, root uint32) (named uint32, ok bool) {
	c := &r.comms[id]
	switch {
	case root == trace.RootNone:
		return root, true
	case root == trace.RootSelf:
		return rank, true
	case root == trace.RootThisGroup:
		return root, false
	case c.kind == commGlobal:
		if root, ok = r.rank(id, root); !ok {
			return trace.RootNone, false
		}
	case c.kind == commInter && rank < uint32(len(c.members)): // the root is in the other group
		root = uint32(min(uint64(root)+uint64(len(c.members)), uint64(trace.RootNone)))
	}
	if root >= r.commSize(id) {
		return trace.RootNone, false
	}
	return root, true
}
