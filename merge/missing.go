package merge

import (
	"fmt"
	"strings"

	"tracekit/trace"
)

// listedRanges is how many ranges of ranks a finding lists.
const listedRanges = 8

// reportMissing names the ranks that the run has and the trace has not.
func reportMissing(t *trace.Trace, ledger *trace.Ledger) {
	missing := t.Missing()
	var ranges []string
	n := 0
	for first := 0; first < len(missing); first++ {
		if !missing[first] {
			continue
		}
		last := first
		for last+1 < len(missing) && missing[last+1] {
			last++
		}
		n += last - first + 1
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
	ledger.AddN(trace.CodeMissingRank, uint64(n), trace.Nowhere(),
		fmt.Sprintf("%s %s of %d", noun, strings.Join(ranges, ", "), len(missing)))
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
