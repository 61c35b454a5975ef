package reconstruct

import (
	"slices"

	"tracekit/formulae"
	"tracekit/trace"
)

// An instance is a collective operation: the ordinal-th on its communicator.
type instance struct {
	comm    trace.CommID
	ordinal uint64
}

// A meeting is where the members of an instance wait for each other.
type meeting struct {
	arrived uint32
	left    uint32
	latest  int64   // enter of those that have arrived
	root    int64   // enter of the root; never: it has not arrived
	lower   []int64 // of an operation in which ranks wait for lower ones: enters by rank
	waiting []int   // locations
}

// meet lets a member of a collective arrive, or find that those have that it waits for.
func (r *replay) meet(i int, h *event) (int64, bool) {
	l := &r.locations[i]
	rank, size, ok := r.ranks.Rank(l.location, uint32(h.coll.Comm))
	if !ok || rank >= size {
		return never, true
	}
	k := instance{h.coll.Comm, l.ordinals[h.coll.Comm]}
	m := r.meetings[k]
	if m == nil {
		m = &meeting{latest: never, root: never}
		r.meetings[k] = m
	}
	if !l.arrived {
		l.arrived = true
		m.arrive(h, rank, size, l.entered)
		r.ready = append(r.ready, m.waiting...)
		m.waiting = m.waiting[:0]
	}
	t, ok := m.ready(h.coll.Op, rank, size, h.coll.Root)
	if !ok {
		m.waiting = append(m.waiting, i)
		return 0, false
	}
	l.arrived = false
	l.ordinals[h.coll.Comm]++
	if m.left++; m.left == size {
		delete(r.meetings, k)
	}
	return t, true
}

// arrive notes a member.
func (m *meeting) arrive(h *event, rank, size uint32, entered int64) {
	m.arrived++
	m.latest = max(m.latest, entered)
	if rank == h.coll.Root {
		m.root = entered
	}
	if formulae.WaitsFor(h.coll.Op, rank, h.coll.Root) == formulae.ForLower {
		if m.lower == nil {
			m.lower = slices.Repeat([]int64{never}, int(size))
		}
		m.lower[rank] = entered
	}
}

// ready returns when the last of the members had entered that one waits for; ok is false if
// they have not all arrived.
func (m *meeting) ready(op trace.CollectiveOp, rank, size, root uint32) (t int64, ok bool) {
	switch formulae.WaitsFor(op, rank, root) {
	case formulae.ForAll:
		return m.latest, m.arrived >= size
	case formulae.ForRoot:
		return m.root, m.root != never || root >= size
	case formulae.ForLower:
		lower := m.lower[:rank+1]
		return slices.Max(lower), !slices.Contains(lower, never)
	}
	return never, true
}
