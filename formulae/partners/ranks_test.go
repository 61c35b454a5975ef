package partners_test

import (
	"testing"

	"tracekit/formulae/partners"
	"tracekit/trace"
	"tracekit/trace/tracetest"
)

// Ranks of communicators are those of their groups; who is no member has none.
func TestRanks(t *testing.T) {
	t.Parallel()
	defs := tracetest.MustParse(t, `
location 0 rank=0
location 1 rank=1
location 2 rank=2
location 3 rank=3
location 4 rank=4
comm 1 PART ranks=3,0,2,4
comm 2 BRIDGE ranks=0,1 others=2,3
comm 3 MPI_COMM_SELF self
`).Definitions
	defs.Comms = append(defs.Comms, trace.Comm{Group: 0}) // the locations
	m := partners.RanksOf(defs)
	no := -1
	nobody := []int{no, no, no, no, no}
	for comm, c := range []struct {
		size  uint32
		ranks []int
	}{{5, []int{0, 1, 2, 3, 4}}, {4, []int{1, no, 2, 0, 3}}, {2, nobody}, {1, nobody}, {5, []int{0, 1, 2, 3, 4}}, {9, nobody}} {
		size := c.size
		for l, want := range c.ranks {
			location, comm := trace.LocationID(l), uint32(comm)
			rank, n, ok := m.Rank(location, comm)
			if ok != (want >= 0) || ok && (int(rank) != want || n != size) {
				t.Errorf("location %d has rank %d of %d (%v) in communicator %d, want %d of %d", l, rank, n, ok, comm, want, size)
			}
			for peer := range size + 1 {
				d, ok := m.Relative(location, comm, peer)
				if ok != (want >= 0 && peer < size) {
					t.Errorf("communicator %d: rank %d is %d from location %d (%v)", comm, peer, d, l, ok)
				}
				if !ok {
					continue
				}
				if back, ok := m.Absolute(location, comm, d); !ok || back != peer || 2*d > int64(size) || 2*d < -int64(size) {
					t.Errorf("communicator %d: rank %d is %d from location %d, which is rank %d", comm, peer, d, l, back)
				}
				// What a file says is taken modulo the size.
				if far, ok := m.Absolute(location, comm, d-1000*int64(size)); !ok || far != peer {
					t.Errorf("communicator %d: rank %d comes back as %d", comm, peer, far)
				}
			}
		}
	}
}

// Whom a member waits for: all whom what it gets depends on, but for itself.
func TestWaitsFor(t *testing.T) {
	t.Parallel()
	const root, other = 2, 5
	for _, c := range []struct {
		op          trace.CollectiveOp
		root, other partners.Others
	}{
		{trace.CollBarrier, partners.ForAll, partners.ForAll},
		{trace.CollAllreduce, partners.ForAll, partners.ForAll},
		{trace.CollAlltoall, partners.ForAll, partners.ForAll},
		{trace.CollBcast, partners.ForNobody, partners.ForRoot},
		{trace.CollScatter, partners.ForNobody, partners.ForRoot},
		{trace.CollReduce, partners.ForAll, partners.ForNobody},
		{trace.CollGather, partners.ForAll, partners.ForNobody},
		{trace.CollScan, partners.ForLower, partners.ForLower},
		{trace.CollectiveOp(250), partners.ForNobody, partners.ForNobody},
	} {
		if a, b := partners.WaitsFor(c.op, root, root), partners.WaitsFor(c.op, other, root); a != c.root || b != c.other {
			t.Errorf("%s: the root waits for %d, others for %d; want %d and %d", c.op, a, b, c.root, c.other)
		}
	}
}
