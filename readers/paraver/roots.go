package paraver

import (
	"cmp"
	"slices"
	"sort"

	"tracekit/trace"
)

// roots remembers the root of the collectives that have one. The format flags it on the
// root alone, so its members find it by the ordinal of the collective among those with a
// root on the communicator. Programs rarely change the root, so ranges are kept.
//
//	ranges[c] are in order of first after finish
type roots struct {
	ranges map[trace.CommID][]rootRange
	total  int
}

// A rootRange is a sequence of collectives first ≤ ordinal < end with one root.
type rootRange struct {
	first, end uint32
	task       uint32 // world rank
}

// maxRootRanges bounds the memory of roots, 12 bytes each.
const maxRootRanges = 1 << 22

// add notes that the collective of an ordinal has its root at a task.
func (r *roots) add(c trace.CommID, ordinal, task uint32) {
	list := r.ranges[c]
	if n := len(list); n > 0 && list[n-1].task == task && list[n-1].end == ordinal {
		list[n-1].end++
		return
	}
	if r.total < maxRootRanges {
		r.ranges[c] = append(list, rootRange{ordinal, ordinal + 1, task})
		r.total++
	}
}

func (r *roots) finish() {
	for _, list := range r.ranges {
		slices.SortStableFunc(list, func(a, b rootRange) int { return cmp.Compare(a.first, b.first) })
	}
}

// find returns the task that is the root of the collective of an ordinal, None if not
// known.
func (r *roots) find(c trace.CommID, ordinal uint32) uint32 {
	list := r.ranges[c]
	i := sort.Search(len(list), func(i int) bool { return list[i].first > ordinal }) - 1
	if i >= 0 && ordinal < list[i].end {
		return list[i].task
	}
	return trace.None
}

// rooted reports whether an operation has a root.
func rooted(op trace.CollectiveOp) bool {
	switch op {
	case trace.CollBcast, trace.CollGather, trace.CollGatherv, trace.CollScatter, trace.CollScatterv, trace.CollReduce:
		return true
	}
	return false
}
