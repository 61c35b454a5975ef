package waits

import (
	"cmp"
	"container/heap"
	"slices"

	"tracekit/trace"
)

// An Instance is one call that waits.
type Instance struct {
	Time, Start int64 // ticks
	Location    trace.LocationID
	order       uint32 // of the location: trace.Trace.Order
	seq         uint64
	Path        trace.PathID
	Region      trace.RegionID
}

// compareInstances orders the longest wait first; ties by the order of locations and sequence number.
func compareInstances(a, b Instance) int {
	return cmp.Or(cmp.Compare(b.Time, a.Time), cmp.Compare(a.order, b.order), cmp.Compare(a.seq, b.seq))
}

// Longest keeps the longest waits: a heap with the shortest of them at its root.
type Longest struct {
	size int
	kept []Instance
}

func (l *Longest) Len() int           { return len(l.kept) }
func (l *Longest) Less(i, j int) bool { return compareInstances(l.kept[i], l.kept[j]) > 0 }
func (l *Longest) Swap(i, j int)      { l.kept[i], l.kept[j] = l.kept[j], l.kept[i] }

// Push implements heap.Interface.
func (l *Longest) Push(x any) { l.kept = append(l.kept, x.(Instance)) }

// Pop implements heap.Interface.
func (l *Longest) Pop() any {
	last := l.kept[len(l.kept)-1]
	l.kept = l.kept[:len(l.kept)-1]
	return last
}

// takes reports whether an instance of that time may be among the longest.
func (l *Longest) takes(time int64) bool {
	return len(l.kept) < l.size || l.size > 0 && time >= l.kept[0].Time
}

// add keeps an instance if it is among the longest.
func (l *Longest) add(i Instance) {
	switch {
	case len(l.kept) < l.size:
		heap.Push(l, i)
	case l.size > 0 && compareInstances(i, l.kept[0]) < 0:
		l.kept[0] = i
		heap.Fix(l, 0)
	}
}

// Sorted returns what was kept, the longest first.
func (l *Longest) Sorted() []Instance {
	out := slices.Clone(l.kept)
	slices.SortFunc(out, compareInstances)
	return out
}
