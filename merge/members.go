package merge

import (
	"fmt"

	"tracekit/trace"
)

// reportMembers names the groups of communicators, and that of MPI's locations, that have a
// member more than once: it has one rank, its first one, and the others are nobody's.
func reportMembers(d *trace.Defs, ledger *trace.Ledger) {
	used := make([]bool, len(d.Groups))
	use := func(g trace.GroupID) {
		if int(g) < len(used) {
			used[g] = true
		}
	}
	use(d.CommLocations(trace.ParadigmMPI))
	for _, c := range d.Comms {
		use(c.Group)
		if c.Inter {
			use(c.Remote)
		}
	}
	for i, g := range d.Groups {
		if !used[i] {
			continue
		}
		if m, n := repeated(g.Members); n > 0 {
			ledger.AddN(trace.CodeBadDefinition, uint64(n), trace.Nowhere(),
				fmt.Sprintf("group %d %q has member %d more than once", i, d.String(g.Name), m))
		}
	}
}

// repeated returns the first member that was there before, and how many are like it.
func repeated(members []uint32) (first uint32, n int) {
	ascending := true // as nearly all are
	for i := 1; i < len(members) && ascending; i++ {
		ascending = members[i-1] < members[i]
	}
	if ascending {
		return 0, 0
	}
	seen := make(map[uint32]bool, len(members))
	for _, m := range members {
		if seen[m] && m != trace.None {
			if n++; n == 1 {
				first = m
			}
		}
		seen[m] = true
	}
	return first, n
}
