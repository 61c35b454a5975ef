package trace

import (
	"math"

	"tracekit/spill"
)

// earlyBy is how much before the last event of the run a rank's records must end to end early: a share of the run.
const earlyBy = 0.01

// EndEarly tells, by world rank, which ranks have records that end before the rank does: long before those of others, while
// it is inside a region that it does not leave, or without the MPI_Finalize that others call. Nothing is known of it from then on.
// Processes that nothing says to be ranks of one job end when they like.
func (t *Trace) EndEarly() []bool {
	early := make([]bool, len(t.World))
	if !t.Defs.Ranked() && !t.Defs.IsTraining() {
		return early
	}
	first, last, finalized := int64(math.MaxInt64), int64(math.MinInt64), false
	masters := func(do func(rank int, l LocationID, s Span)) {
		for r, l := range t.World {
			if int(l) < len(t.Span) && t.Span[l].Events > 0 {
				do(r, l, t.Span[l])
			}
		}
	}
	finalizes := func(l LocationID) bool { return int(l) < len(t.Calls) && FindStartup(t.Calls[l], ClassFinalize) >= 0 }
	masters(func(_ int, l LocationID, s Span) {
		first, last, finalized = min(first, s.First), max(last, s.Last), finalized || finalizes(l)
	})
	masters(func(r int, l LocationID, s Span) {
		early[r] = float64(last-s.Last) > earlyBy*float64(last-first) && (s.Open || finalized && !finalizes(l))
	})
	return early
}

// FindStartup returns the row of the first call of MPI_Init, or of the last of
// MPI_Finalize; -1 if there is none. They are looked for near the ends of the table only.
func FindStartup(calls *spill.Table[Call], class CallClass) int {
	n := calls.Len()
	for k := range min(n, startupReach) {
		i := k
		if class == ClassFinalize {
			i = n - 1 - k
		}
		if calls.Ptr(i).Class == class {
			return i
		}
	}
	return -1
}

// startupReach is the number of calls that may precede MPI_Init or follow MPI_Finalize.
const startupReach = 64
