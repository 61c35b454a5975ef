package page

import (
	"sort"

	"tracekit/codec"
	"tracekit/spill"
)

// An ordered table has rows in order of a time. What the table spills need not be looked at to find
// where in it a time is, but for a few rows: the times of some lie in memory.
type ordered[T any] struct {
	*spill.Table[T]
	time  func(*T) *int64
	posts []int64 // times of the rows 0, postEvery, 2·postEvery …
}

// postEvery is how many rows lie between two whose times lie in memory.
const postEvery = 256

func newOrdered[T any](store *spill.Store, time func(*T) *int64) ordered[T] {
	return ordered[T]{Table: spill.NewTable[T](store), time: time}
}

// add adds a row.
func (o *ordered[T]) add(row T) {
	if i := o.Append(row); i%postEvery == 0 {
		o.posts = append(o.posts, *o.time(o.Ptr(i)))
	}
}

// seal ends the growth of the table.
func (o *ordered[T]) seal() { o.Table = o.Sealed() }

// before returns how many rows lie before the first with a time that is past.
func (o *ordered[T]) before(past func(int64) bool) int {
	post := sort.Search(len(o.posts), func(i int) bool { return past(o.posts[i]) })
	if post == 0 {
		return 0
	}
	first := (post - 1) * postEvery
	return first + sort.Search(min(postEvery, o.Len()-first), func(i int) bool { return past(*o.time(o.Ptr(first + i))) })
}

// move moves the rows into another store.
func (o *ordered[T]) move(to *spill.Store) { o.Table = moved(o.Table, to) }

func moved[T any](table *spill.Table[T], to *spill.Store) *spill.Table[T] {
	there := spill.NewTable[T](to)
	for _, rows := range table.Rows {
		there.AppendRows(rows)
	}
	table.Release()
	return there.Sealed()
}

// code codes the table by its time, which ascends from 0 to a last one at least by a step, and further columns.
func (o *ordered[T]) code(c *codec.Coder, store *spill.Store, time func(*T) *int64, last int64, step uint64,
	columns ...codec.Column[T]) {
	if c.Reading() {
		o.time = time
	}
	n := 0
	post := func(c *codec.Coder, rows []T) {
		for i := range rows {
			if c.Reading() && (n+i)%postEvery == 0 {
				o.posts = append(o.posts, *time(&rows[i]))
			}
		}
		n += len(rows)
	}
	times := codec.Numbers(time, codec.Within("time", 0, last).Ascending(step))
	codec.Table(c, store, &o.Table, append([]codec.Column[T]{times, post}, columns...)...)
}

// A resolution is how a row of the timeline is kept once: in parts in order of their begin, each until
// the next one's, the last until the end.
type resolution struct {
	step int64 // ns: length of the cells that the parts are made of; 1: they are exact
	end  int64 // ns
}

// mostNs bounds times that are read, so that their sums are numbers.
const mostNs = 1 << 60

func (r *resolution) code(c *codec.Coder) {
	codec.Number(c, &r.step, codec.Within("length of cells", 1, mostNs))
	codec.Number(c, &r.end, codec.Within("time", 0, mostNs))
}
