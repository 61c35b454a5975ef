package waits

import (
	"cmp"
	"slices"

	"tracekit/stats/numbers"
	"tracekit/trace"
)

// An Instance is one call that waits.
type Instance struct {
	Time, Start int64 // ticks
	Location    trace.LocationID
	order       uint32 // of the location: trace.Trace.Order
	seq         uint64
	Path        trace.PathID
}

// compareInstances orders the longest wait first; ties by the order of locations and sequence number.
func compareInstances(a, b Instance) int {
	return cmp.Or(cmp.Compare(b.Time, a.Time), cmp.Compare(a.order, b.order), cmp.Compare(a.seq, b.seq))
}

// Longest keeps the longest waits.
type Longest struct{ numbers.Largest[Instance] }

// longest returns one that keeps so many.
func longest(size int) Longest {
	return Longest{numbers.Largest[Instance]{Most: size, Less: func(a, b *Instance) bool { return compareInstances(*a, *b) > 0 }}}
}

// takes reports whether an instance of that time may be among the longest.
func (l *Longest) takes(time int64) bool {
	return len(l.Kept) < l.Most || l.Most > 0 && time >= l.Kept[0].Time
}

// Sorted returns what was kept, the longest first.
func (l *Longest) Sorted() []Instance {
	out := slices.Clone(l.Kept)
	slices.SortFunc(out, compareInstances)
	return out
}
