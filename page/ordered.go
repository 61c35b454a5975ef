package page

import (
	"sort"

	"tracekit/spill"
)

// An ordered table has rows in order of a time. What the table spills need not be looked at to find
// where in it a time is, but for a few rows: the times of some lie in memory.
type ordered[T any] struct {
	*spill.Table[T]
	posts []int64 // times of the rows 0, postEvery, 2·postEvery …
}

// postEvery is how many rows lie between two whose times lie in memory.
const postEvery = 256

func newOrdered[T any](store *spill.Store) ordered[T] {
	return ordered[T]{Table: spill.NewTable[T](store)}
}

// add adds a row of a time.
func (o *ordered[T]) add(at int64, row T) {
	if o.Append(row)%postEvery == 0 {
		o.posts = append(o.posts, at)
	}
}

// seal ends the growth of the table.
func (o *ordered[T]) seal() { o.Table = o.Sealed() }

// before returns how many rows lie before the first with a time that is past.
func (o *ordered[T]) before(time func(*T) int64, past func(int64) bool) int {
	post := sort.Search(len(o.posts), func(i int) bool { return past(o.posts[i]) })
	if post == 0 {
		return 0
	}
	first := (post - 1) * postEvery
	return first + sort.Search(min(postEvery, o.Len()-first), func(i int) bool { return past(time(o.Ptr(first + i))) })
}
