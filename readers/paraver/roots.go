package paraver

import (
	"cmp"
	"slices"
	"sort"

	"tracekit/trace"
)

// roots has the root of the collectives that have one. The format flags it on the root
// alone, so its members find it by the ordinal of the collective among those with a root on
// the communicator.
//
//	ranges[c] are in order of first
type roots struct{ ranges map[trace.CommID][]rootRange }

// A rootRange is a sequence of collectives first ≤ ordinal < end with one root.
type rootRange struct {
	first, end uint32
	task       uint32 // world rank
}

// rootedCalls are the collectives with a root that a thread has called, by communicator.
type rootedCalls struct {
	comms map[trace.CommID]*rootedComm
	count int    // of ranges
	limit int    // of ranges; 0: none
	lost  uint64 // calls in ranges beyond it
}

// A rootedComm is the number of a thread's collectives with a root on a communicator, and
// those of which it is the root. Programs rarely change the root, so ranges are kept.
type rootedComm struct {
	calls uint32
	root  []rootRange // task is not set
}

// maxRootRanges bounds the memory of the roots of all threads, 12 bytes each, unless that is
// less than leastRootRanges for each.
const (
	maxRootRanges   = 1 << 22
	leastRootRanges = 1 << 12
)

// comm returns the calls on a communicator.
func (r *rootedCalls) comm(c trace.CommID) *rootedComm {
	if r.comms == nil {
		r.comms = make(map[trace.CommID]*rootedComm)
	}
	if r.comms[c] == nil {
		r.comms[c] = &rootedComm{}
	}
	return r.comms[c]
}

// add notes the next collective on a communicator.
func (r *rootedCalls) add(c trace.CommID, root bool) {
	n := r.comm(c)
	if root {
		r.extend(n, rootRange{first: n.calls, end: n.calls + 1})
	}
	n.calls++
}

// extend adds a range behind those of a communicator, as long as there are not too many.
func (r *rootedCalls) extend(n *rootedComm, more rootRange) {
	if k := len(n.root); k > 0 && n.root[k-1].end == more.first {
		n.root[k-1].end = more.end
	} else if r.limit == 0 || r.count < r.limit {
		n.root = append(n.root, more)
		r.count++
	} else {
		r.lost += uint64(more.end - more.first)
	}
}

// join notes what follows.
func (r *rootedCalls) join(next *rootedCalls) {
	for c, more := range next.comms {
		n := r.comm(c)
		for _, m := range more.root {
			r.extend(n, rootRange{first: n.calls + m.first, end: n.calls + m.end})
		}
		n.calls += more.calls
	}
}

// newRoots brings together what threads say.
func newRoots(threads []thread) *roots {
	r := &roots{ranges: make(map[trace.CommID][]rootRange)}
	for i := range threads {
		for c, n := range threads[i].rooted.comms {
			for _, m := range n.root {
				m.task = threads[i].task
				r.ranges[c] = append(r.ranges[c], m)
			}
		}
	}
	for _, list := range r.ranges {
		slices.SortFunc(list, func(a, b rootRange) int {
			return cmp.Or(cmp.Compare(a.first, b.first), cmp.Compare(a.task, b.task), cmp.Compare(a.end, b.end))
		})
	}
	return r
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
