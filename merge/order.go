package merge

import (
	"cmp"
	"slices"
	"sort"

	"tracekit/spill"
	"tracekit/trace"
)

// A ref names a row of a table that exists once for each location.
type ref struct {
	loc trace.LocationID
	row uint32
}

var noRef = ref{trace.None, trace.None}

// A cursor finds rows of tables that exist once for each location; fast, if they mostly lie beside
// the one before.
type cursor[T any] struct {
	tables []*spill.Table[T]
	first  ref // of rows
	rows   []T
}

// at returns a row for reading and writing.
func (c *cursor[T]) at(r ref) *T {
	if i := uint(r.row - c.first.row); r.loc == c.first.loc && i < uint(len(c.rows)) {
		return &c.rows[i]
	}
	return c.move(r)
}

func (c *cursor[T]) move(r ref) *T {
	c.first, c.rows = r, c.tables[r.loc].From(int(r.row))
	return &c.rows[0]
}

// An endpoints is the order in which a rank's sends or receives take their places in
// their channels. Mostly that is the order of the rows of one location.
type endpoints struct {
	loc  trace.LocationID
	n    int
	refs *spill.Table[ref] // nil: all rows of loc in order
}

// share returns where those of one window of several begin and end.
func (e *endpoints) share(window, windows int) (from, to int) {
	return e.n * window / windows, e.n * (window + 1) / windows
}

func (e *endpoints) at(i int) ref {
	if e.refs != nil {
		return e.refs.At(i)
	}
	return ref{e.loc, uint32(i)}
}

// A placed row is a row with what its place depends on.
type placed struct {
	time int64
	seq  uint64
	ref
}

// byPlace orders rows, which may lie in a file, as sort.Sort asks for.
type byPlace struct{ *spill.Table[placed] }

func (rows byPlace) Less(i, j int) bool {
	a, b := rows.Ptr(i), rows.Ptr(j)
	return cmp.Or(cmp.Compare(a.time, b.time), cmp.Compare(a.loc, b.loc), cmp.Compare(a.seq, b.seq)) < 0
}

func (rows byPlace) Swap(i, j int) {
	a, b := rows.Ptr(i), rows.Ptr(j)
	*a, *b = *b, *a
}

// inPlace sorts rows and returns them without what their places depend on.
func inPlace(store *spill.Store, rows *spill.Table[placed]) *spill.Table[ref] {
	sort.Sort(byPlace{rows})
	refs := spill.NewTable[ref](store)
	for _, some := range rows.Rows {
		for i := range some {
			refs.Append(some[i].ref)
		}
	}
	rows.Release()
	return refs.Sealed()
}

// arrange orders the rows of a rank's locations. length gives the number of rows of a
// location, ordered says whether they lie in their order, place gives the time (common to
// the locations) and the sequence number by which a row is placed. Within one location
// only the sequence number counts.
func arrange(store *spill.Store, locs []trace.LocationID, length func(trace.LocationID) int, ordered func(trace.LocationID) bool,
	place func(ref) (int64, uint64)) endpoints {
	used := slices.DeleteFunc(slices.Clone(locs), func(l trace.LocationID) bool { return length(l) == 0 })
	if len(used) == 0 {
		return endpoints{}
	}
	if len(used) == 1 && ordered(used[0]) {
		return endpoints{loc: used[0], n: length(used[0])}
	}
	rows := spill.NewTable[placed](store)
	for _, l := range used {
		for i := range length(l) {
			p := placed{ref: ref{l, uint32(i)}}
			p.time, p.seq = place(p.ref)
			if len(used) == 1 {
				p.time = 0
			}
			rows.Append(p)
		}
	}
	return endpoints{n: rows.Len(), refs: inPlace(store, rows)}
}

// byRank returns the locations of each world rank.
func byRank(ranks []uint32, size int) [][]trace.LocationID {
	out := make([][]trace.LocationID, size)
	for l, r := range ranks {
		if r != trace.None {
			out[r] = append(out[r], trace.LocationID(l))
		}
	}
	return out
}
