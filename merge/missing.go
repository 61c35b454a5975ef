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
