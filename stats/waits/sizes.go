package waits

import (
	"math/bits"

	"tracekit/trace"
)

// A Role is what a call does of the things that its function may do: a set. Calls in
// different roles are not comparable.
type Role uint8

const (
	roleSends    Role = 1 << iota // completes or starts sends
	roleReceives                  // completes or starts receives
	roleRoot                      // of a collective that has one; or completes such a part
	roleLeaf                      // of a collective that has a root, another rank than that
	roleMember                    // completes a collective without a root

	// RoleBits is the number of bits of a role, RoleMask has them set.
	RoleBits          = iota
	RoleMask          = 1<<RoleBits - 1 // a role
	roleMessages      = roleSends | roleReceives
	roleAtRoot        = roleRoot | roleLeaf
	roleAny      Role = RoleMask
)

var roleNames = [RoleBits]string{"sends", "receives", "root", "leaf", "collective"}

// String names a role: "" for a call that has none, "both" for sends and receives.
func (r Role) String() string {
	s := ""
	add := func(name string) {
		if s != "" {
			s += "+"
		}
		s += name
	}
	if r&roleMessages == roleMessages {
		add("both")
		r &^= roleMessages
	}
	for ; r != 0; r &= r - 1 {
		add(roleNames[bits.TrailingZeros8(uint8(r))])
	}
	return s
}

// RolesOf returns what calls of a function may differ in. All calls of MPI_Send send.
func RolesOf(f trace.MPIFunction) Role {
	switch f.Class {
	case trace.ClassSendrecv, trace.ClassStart:
		return roleMessages
	case trace.ClassWait, trace.ClassTest:
		return roleAny
	case trace.ClassColl, trace.ClassIcoll:
		return roleAtRoot
	}
	return 0
}

// mostBytes keeps sums over calls from overflowing, whatever a trace claims.
const mostBytes = 1 << 40

// A CallSize is the bytes of a call as its key has them, at most mostBytes, and its role in
// the highest bits.
type CallSize uint64

const roleShift = 64 - RoleBits

// Bytes returns the bytes that the caller passed.
func (s CallSize) Bytes() uint64 { return uint64(s) &^ (RoleMask << roleShift) }

// Role returns what the call does.
func (s CallSize) Role() Role { return Role(s >> roleShift) }

// plus returns the size of a call that does this as well.
func (s CallSize) plus(bytes uint64, r Role) CallSize {
	return CallSize(min(s.Bytes()+min(bytes, mostBytes), mostBytes)) | s&(RoleMask<<roleShift) | CallSize(r)<<roleShift
}

// sizeParts finds the sizes and roles of the members of an instance.
func (x *instances) sizeParts(c *trace.Collective, in []member) {
	if x.Sizes == nil {
		return
	}
	k := sizing{op: c.Op, ranks: max(uint64(c.Size), 1), summed: x.summed}
	for i := range in {
		switch c.Op {
		case trace.CollBcast, trace.CollScatter:
			k.each = max(k.each, in[i].recvd)
		case trace.CollGather, trace.CollReduce:
			k.each = max(k.each, in[i].sent)
		}
	}
	rooted := c.Op.Pattern().Rooted()
	for i := range in {
		r := roleMember
		if rooted {
			r = roleLeaf
			if in[i].rank == c.Root {
				r = roleRoot
			}
		}
		x.parts.Ptr(int(in[i].row)).size = CallSize(0).plus(k.bytes(&in[i], r == roleRoot), r)
	}
}

// A sizing turns what is recorded of a collective into bytes as the caller passed them: the
// size of one block where all are alike, the mean over the ranks where they are not.
//
// Recorders differ. Score-P counts what would flow if every two ranks exchanged their blocks
// directly, so that the root of a broadcast sends, and everyone in an Allreduce sends and
// receives, its bytes times the number of ranks (or, in place, one less); Extrae keeps the
// arguments of the call. What is received from or sent to a root alone is the same in both.
type sizing struct {
	op     trace.CollectiveOp
	ranks  uint64
	summed bool
	each   uint64 // what every rank but the root records where all blocks are alike
}

func (k sizing) bytes(m *member, root bool) uint64 {
	switch k.op {
	case trace.CollBcast, trace.CollReduce:
		if k.each > 0 {
			return k.each
		}
		return k.alike(max(m.sent, m.recvd))
	case trace.CollScatter, trace.CollGather:
		if k.each > 0 {
			return k.each
		}
		return blockOf(max(m.sent, m.recvd), k.ranks)
	case trace.CollScatterv:
		if root {
			return m.sent / k.ranks
		}
		return m.recvd
	case trace.CollGatherv:
		if root {
			return m.recvd / k.ranks
		}
		return m.sent
	case trace.CollAllreduce, trace.CollAlltoall, trace.CollAllgather, trace.CollAllgatherv:
		return k.alike(m.sent)
	case trace.CollReduceScatterBlock:
		return k.alike(m.recvd)
	case trace.CollAlltoallv, trace.CollAlltoallw, trace.CollReduceScatter:
		return m.sent / k.ranks
	case trace.CollScan, trace.CollExscan:
		return k.scanned(m)
	}
	return m.sent
}

// alike is a block of an operation of which recorders multiply the bytes.
func (k sizing) alike(total uint64) uint64 {
	if !k.summed {
		return total
	}
	return blockOf(total, k.ranks)
}

// scanned is the block of a scan: summed, a rank gives it to those above and gets it from
// those below.
func (k sizing) scanned(m *member) uint64 {
	ranks := k.ranks + 1
	if k.op == trace.CollExscan {
		ranks = max(k.ranks-1, 1)
	}
	if !k.summed {
		return max(m.sent, m.recvd)
	}
	return (m.sent + m.recvd) / ranks
}

// blockOf divides a total by the ranks, or by the others alone if it is theirs.
func blockOf(total, ranks uint64) uint64 {
	if total%ranks != 0 && ranks > 1 && total%(ranks-1) == 0 {
		return total / (ranks - 1)
	}
	return total / ranks
}

// mostAsked bounds the collectives that are looked at to tell how a recorder counts.
const mostAsked = 1 << 16

// recordsSums tells whether the bytes of collectives are recorded as sums over the ranks, by
// the first instance that shows it: a root that has more than a leaf, or an exchange of which
// everyone receives more than it sends. Where none does they are taken for sums unless they cannot be
// divided.
func recordsSums(t *trace.Trace) bool {
	divisible := true
	for i := range min(t.Collectives.Len(), mostAsked) {
		c := t.Collectives.Ptr(i)
		if c.Mismatch || c.Size < 2 || c.Count < 2 {
			continue
		}
		p := uint64(c.Size)
		switch c.Op {
		case trace.CollBcast, trace.CollReduce:
			if root, leaf := rootAndLeaf(t, c); root > 0 && leaf > 0 {
				return root > leaf
			}
		case trace.CollAllgather, trace.CollAlltoall:
			if m := t.Members.Ptr(int(c.First)); m.Sent > 0 && m.Received == p*m.Sent {
				return false
			}
		case trace.CollAllreduce:
			sent := t.Members.Ptr(int(c.First)).Sent
			divisible = divisible && (sent%p == 0 || sent%(p-1) == 0)
		}
	}
	return divisible
}

// rootAndLeaf returns what the root of a broadcast sends and a leaf receives, or what the
// root of a reduction receives and a leaf sends.
func rootAndLeaf(t *trace.Trace, c *trace.Collective) (root, leaf uint64) {
	for k := c.First; k < c.First+c.Count && (root == 0 || leaf == 0); k++ {
		m := t.Members.Ptr(int(k))
		gives, takes := m.Sent, m.Received
		if c.Op == trace.CollReduce {
			gives, takes = takes, gives
		}
		if m.Rank == c.Root {
			root = gives
		} else {
			leaf = max(leaf, takes)
		}
	}
	return root, leaf
}

// Sets of classes of calls: silent ones are no communication events. MPI_Init and MPI_Finalize
// run once and have no law.
const (
	Startups = 1<<trace.ClassInit | 1<<trace.ClassFinalize
	silent   = 1<<trace.ClassNone | Startups
)

// Communicates reports whether a call is a communication event: it communicates, starts or completes a
// request, synchronises or probes.
func (w *Finder) Communicates(c *trace.Call) bool {
	return silent>>c.Class&1 == 0 && int(w.T.Tree.Region(c.Path)) < len(w.T.Defs.Regions)
}
