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
	Seq         uint64
	Path        trace.PathID
	Region      trace.RegionID
}

// CompareInstances orders the longest wait first; ties by location and sequence number.
func CompareInstances(a, b Instance) int {
	return cmp.Or(cmp.Compare(b.Time, a.Time), cmp.Compare(a.Location, b.Location), cmp.Compare(a.Seq, b.Seq))
}

// Longest keeps the longest waits: a heap with the shortest of them at its root.
type Longest struct {
	Size int
	kept []Instance
}

func (l *Longest) Len() int           { return len(l.kept) }
func (l *Longest) Less(i, j int) bool { return CompareInstances(l.kept[i], l.kept[j]) > 0 }
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
	return len(l.kept) < l.Size || l.Size > 0 && time >= l.kept[0].Time
}

// Add keeps an instance if it is among the longest.
func (l *Longest) Add(i Instance) {
	switch {
	case len(l.kept) < l.Size:
		heap.Push(l, i)
	case l.Size > 0 && CompareInstances(i, l.kept[0]) < 0:
		l.kept[0] = i
		heap.Fix(l, 0)
	}
}

// Sorted returns what was kept, the longest first.
func (l *Longest) Sorted() []Instance {
	out := slices.Clone(l.kept)
	slices.SortFunc(out, CompareInstances)
	return out
}
