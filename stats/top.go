package stats

import (
	"cmp"
	"container/heap"
	"slices"

	"tracekit/trace"
)

// An instance is one call that waits.
type instance struct {
	time, start int64 // ticks
	location    trace.LocationID
	seq         uint64
	path        trace.PathID
	region      trace.RegionID
}

// compareInstances orders the longest wait first; ties by location and sequence number.
func compareInstances(a, b instance) int {
	return cmp.Or(cmp.Compare(b.time, a.time), cmp.Compare(a.location, b.location), cmp.Compare(a.seq, b.seq))
}

// longest keeps the longest waits: a heap with the shortest of them at its root.
type longest struct {
	size int
	kept []instance
}

func (l *longest) Len() int           { return len(l.kept) }
func (l *longest) Less(i, j int) bool { return compareInstances(l.kept[i], l.kept[j]) > 0 }
func (l *longest) Swap(i, j int)      { l.kept[i], l.kept[j] = l.kept[j], l.kept[i] }

// Push implements heap.Interface.
func (l *longest) Push(x any) { l.kept = append(l.kept, x.(instance)) }

// Pop implements heap.Interface.
func (l *longest) Pop() any {
	last := l.kept[len(l.kept)-1]
	l.kept = l.kept[:len(l.kept)-1]
	return last
}

// takes reports whether an instance of that time may be among the longest.
func (l *longest) takes(time int64) bool {
	return len(l.kept) < l.size || l.size > 0 && time >= l.kept[0].time
}

// add keeps an instance if it is among the longest.
func (l *longest) add(i instance) {
	switch {
	case len(l.kept) < l.size:
		heap.Push(l, i)
	case l.size > 0 && compareInstances(i, l.kept[0]) < 0:
		l.kept[0] = i
		heap.Fix(l, 0)
	}
}

// sorted returns what was kept, the longest first.
func (l *longest) sorted() []instance {
	out := slices.Clone(l.kept)
	slices.SortFunc(out, compareInstances)
	return out
}
