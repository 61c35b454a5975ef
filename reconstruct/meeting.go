package reconstruct

import (
	"slices"

	"tracekit/formulae/partners"
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
func (r *replay) meet(i int, h *step) (int64, bool) {
	l := &r.locations[i]
	at := &l.places[h.item]
	rank, size, ok := r.ranks.Rank(l.location, at.ref)
	if !ok || rank >= size {
		return never, true
	}
	k := instance{trace.CommID(at.ref), l.ordinals[trace.CommID(at.ref)]}
	m := r.meetings[k]
	if m == nil {
		m = &meeting{latest: never, root: never}
		r.meetings[k] = m
	}
	if !l.arrived {
		l.arrived = true
		m.arrive(at.op, rank, size, h.peer, l.entered)
		r.ready = append(r.ready, m.waiting...)
		m.waiting = m.waiting[:0]
	}
	t, ok := m.ready(at.op, rank, size, h.peer)
	if !ok {
		m.waiting = append(m.waiting, i)
		return 0, false
	}
	l.arrived = false
	l.met(trace.CommID(at.ref))
	if m.left++; m.left == size {
		delete(r.meetings, k)
	}
	return t, true
}

// met notes that a location goes on from a meeting on a communicator.
func (l *replayed) met(comm trace.CommID) {
	if l.ordinals == nil {
		l.ordinals = make(map[trace.CommID]uint64)
	}
	l.ordinals[comm]++
}

// arrive notes a member.
func (m *meeting) arrive(op trace.CollectiveOp, rank, size, root uint32, entered int64) {
	m.arrived++
	m.latest = max(m.latest, entered)
	if rank == root {
		m.root = entered
	}
	if partners.WaitsFor(op, rank, root) == partners.ForLower {
		if m.lower == nil {
			m.lower = slices.Repeat([]int64{never}, int(size))
		}
		m.lower[rank] = entered
	}
}

// ready returns when the last of the members had entered that one waits for; ok is false if
// they have not all arrived.
func (m *meeting) ready(op trace.CollectiveOp, rank, size, root uint32) (t int64, ok bool) {
	switch partners.WaitsFor(op, rank, root) {
	case partners.ForAll:
		return m.latest, m.arrived >= size
	case partners.ForRoot:
		return m.root, m.root != never || root >= size
	case partners.ForLower:
		lower := m.lower[:rank+1]
		return slices.Max(lower), !slices.Contains(lower, never)
	}
	return never, true
}
