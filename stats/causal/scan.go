package causal

import (
	"tracekit/spill"
	"tracekit/trace"
)

// A Member of a scan arrives Head ticks after its location enters a call. The members after it wait for that.
type Member struct {
	Location trace.LocationID
	Call     uint32
	Head     int64
}

// scans are collective operations in which each member waits for those before it. Each is a sequence of the schedule: it
// goes over its members once, as they arrive, and wakes those that wait.
//
//	sequence len(locations)+i is running[i]
type scans struct {
	store   *spill.Store
	members int
	member  func(row uint32) (Member, bool)
	before  *spill.Table[before] // by row of the member
	running []scan
	unused  []int          // of running
	byFirst map[uint32]int // the index in running, by row of the first member
}

// A scan is how far one is.
type scan struct {
	first, next, end uint32 // rows of members
	awaits           uint32 // the row of the member that it waits for, plus 1
	last             int64  // the latest arrival before next
}

// before describes the members before one.
type before struct {
	last   int64            // when the latest of them arrives, if known
	waiter trace.LocationID // that waits for them, plus 1; 0: none
	known  bool
}

// Scan prepares for Before. The trace has that many members; the function returns the one in a row, and ok is false if
// nobody waits for it. Release gives the memory back.
func (s *Schedule) Scan(store *spill.Store, members int, member func(row uint32) (m Member, ok bool)) {
	s.scans = scans{store: store, members: members, member: member, byFirst: make(map[uint32]int)}
}

// Release gives the memory of Scan back.
func (s *Schedule) Release() { s.scans.before.Release() }

// Before returns the time in ticks at which the last of those arrives that come before a member of a collective operation; Anytime if there
// are none. While one of them is missing, ok is false and l waits. The time for all members together is proportional to their number.
func (s *Schedule) Before(l trace.LocationID, c *trace.Collective, member uint32) (at int64, ok bool) {
	if s.scans.before == nil {
		s.scans.before = spill.NewZeros[before](s.scans.store, s.scans.members)
	}
	x := s.scans.before.Ptr(int(member))
	if !x.known {
		s.goOver(s.scans.find(c))
	}
	if !x.known {
		x.waiter = l + 1
	}
	return x.last, x.known
}

// find returns the index of the scan that runs for an operation.
func (s *scans) find(c *trace.Collective) int {
	i, ok := s.byFirst[c.First]
	if ok {
		return i
	}
	if n := len(s.unused); n > 0 {
		i, s.unused = s.unused[n-1], s.unused[:n-1]
	} else {
		i, s.running = len(s.running), append(s.running, scan{})
	}
	s.byFirst[c.First] = i
	s.running[i] = scan{first: c.First, next: c.First, end: c.First + c.Count, last: Anytime}
	return i
}

// goOver goes over the members of a scan until one that has not arrived.
func (s *Schedule) goOver(i int) {
	x := &s.scans.running[i]
	if x.next == x.end {
		return // woken for a scan that is over
	}
	for ; x.next < x.end; x.next++ {
		b := s.scans.before.Ptr(int(x.next))
		if b.last, b.known = x.last, true; b.waiter != 0 {
			s.turns.start(int(b.waiter - 1))
			b.waiter = 0
		}
		m, ok := s.scans.member(x.next)
		if !ok {
			continue
		}
		if int(m.Call) >= s.turns.sequences[m.Location].reached {
			if x.awaits != x.next+1 {
				x.awaits = x.next + 1
				s.turns.await(len(s.locations)+i, int(m.Location), int(m.Call)+1)
			}
			return
		}
		x.last = max(x.last, s.At(m.Location, m.Call)+m.Head)
	}
	delete(s.scans.byFirst, x.first)
	s.scans.unused = append(s.scans.unused, i)
}
