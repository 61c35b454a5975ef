package merge

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"tracekit/trace"
)

// listedRanges is how many ranges of ranks a finding lists.
const listedRanges = 8

// reportMissing names the ranks that the run has and the trace has not. That their messages and their parts in collectives are missing,
// too, is no finding of its own.
func reportMissing(t *trace.Trace, missing []bool, ledger *trace.Ledger) {
	n, ranks := listed(missing)
	code := trace.CodeMissingRank
	if t.Source.Info().EachWorker() {
		code, ranks = trace.CodeWorkerRank, "without rows: "+ranks
	}
	ledger.AddN(code, n, trace.Nowhere(), ranks)
}

// reportEarly names the ranks of which nothing is recorded from some time on, and until when all are.
func reportEarly(t *trace.Trace, ledger *trace.Ledger) {
	early := t.EndEarly()
	n, ranks := listed(early)
	if n == 0 {
		return
	}
	first, end := int64(math.MaxInt64), int64(math.MaxInt64)
	for l, s := range t.Span {
		if s.Events == 0 {
			continue
		}
		first = min(first, s.First)
		if r := t.Rank[l]; int(r) < len(early) && early[r] && t.World[r] == trace.LocationID(l) {
			end = min(end, s.Last)
		}
	}
	until := time.Duration(t.Defs.Clock.Nanoseconds(end - first))
	for _, unit := range []time.Duration{time.Second, time.Millisecond, time.Microsecond} {
		if until >= 100*unit {
			until = until.Truncate(unit)
			break
		}
	}
	ledger.AddN(trace.CodeEarlyEnd, n, trace.Nowhere(), fmt.Sprintf("%s; --to %v selects the part with all ranks", ranks, until))
}

// listed returns how many ranks are marked, and spells them.
func listed(marked []bool) (n uint64, text string) {
	var ranges []string
	for first := 0; first < len(marked); first++ {
		if !marked[first] {
			continue
		}
		last := first
		for last+1 < len(marked) && marked[last+1] {
			last++
		}
		n += uint64(last - first + 1)
		if first == last {
			ranges = append(ranges, fmt.Sprint(first))
		} else {
			ranges = append(ranges, fmt.Sprintf("%d-%d", first, last))
		}
		first = last
	}
	if len(ranges) > listedRanges {
		ranges = append(ranges[:listedRanges], "…")
	}
	noun := "rank"
	if n > 1 {
		noun = "ranks"
	}
	return n, fmt.Sprintf("%s %s of %d", noun, strings.Join(ranges, ", "), len(marked))
}

// reportTwins notes the processes that a communicator lists more than once; the first place is
// their rank.
func reportTwins(r *resolver, ledger *trace.Ledger) {
	seen := make([]int, r.size) // by world rank: number from 1 of the latest group that lists it
	for i := range r.comms {
		for g, members := range [][]uint32{r.comms[i].members, r.comms[i].remote} {
			stamp := 2*i + g + 1
			for _, world := range members {
				if world >= r.size {
					continue
				}
				if seen[world] == stamp {
					ledger.Add(trace.CodeBadDefinition, trace.Nowhere(), fmt.Sprintf("communicator %d lists rank %d "+
						"more than once", i, world))
				}
				seen[world] = stamp
			}
		}
	}
}

// oneSided are the MPI functions that begin operations on windows, and completing how the names of those begin that complete them.
var (
	oneSided   = []string{"put", "get", "accumulate", "get_accumulate", "fetch_and_op", "compare_and_swap"}
	completing = []string{"win_fence", "win_complete", "win_wait", "win_test", "win_unlock", "win_flush"}
)

// reportEpochs names the functions of which operations on windows are recorded, if no call is that completes them: there ranks would wait.
func reportEpochs(t *trace.Trace, ledger *trace.Ledger) {
	var begin []string
	for id, visited := range t.Tree.Visited(len(t.Defs.Regions)) {
		label := t.Defs.RegionLabel(trace.RegionID(id))
		name, ok := strings.CutPrefix(strings.TrimRight(strings.ToLower(label), "_"), "mpi_")
		switch {
		case !ok || !visited:
		case slices.ContainsFunc(completing, func(prefix string) bool { return strings.HasPrefix(name, prefix) }):
			return
		case slices.Contains(oneSided, name):
			begin = append(begin, label)
		}
	}
	ledger.AddN(trace.CodeOpenEpoch, uint64(len(begin)), trace.Nowhere(), strings.Join(begin, ", "))
}
