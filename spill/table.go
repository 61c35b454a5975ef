package spill

import (
	"sync/atomic"
	"unsafe"
)

// A Table is a growing sequence of rows of a fixed size without pointers; nil is one without
// rows, which does not grow. See the package's contract for who may use it when.
//
//	row 0 is row first of pages[0]; but for the first and the last one, pages are full
//	last are the rows of the last page, with room for more, while the table grows
//	next is where its next pages will lie in the file
type Table[T any] struct {
	paged
	last  []T
	next  group
	first int
	n     int
}

// A paged is what a table is for a store, whatever its rows are.
type paged struct {
	store  *Store
	pages  []*page
	change bool // rows are going to change
}

// rowsOf returns the first row of page k.
func (t *paged) rowsOf(k int) unsafe.Pointer {
	if rows := atomic.LoadPointer(&t.pages[k].rows); rows != nil {
		return rows
	}
	return t.load(k)
}

// load brings a page in that is not in memory: no part of rowsOf, which every access has.
//
//go:noinline
func (t *paged) load(k int) unsafe.Pointer { return t.store.load(t.pages, k, t.change) }

// NewTable returns an empty table in the store.
func NewTable[T any](store *Store) *Table[T] { return &Table[T]{paged: paged{store: store}} }

// Ensure returns the table that a variable refers to, after a new one is made if it is nil: for
// tables of locations, of which there may be many more than have any row.
func Ensure[T any](store *Store, table **Table[T]) *Table[T] {
	if *table == nil {
		*table = NewTable[T](store)
	}
	return *table
}

// NewZeros returns a table of n rows of zeros in the store, which does not grow. Rows take
// memory only once they are used, unless they are few.
func NewZeros[T any](store *Store, n int) *Table[T] {
	perPage := perPage[T]()
	switch {
	case n == 0:
		return nil
	case n < perPage/2:
		return newLot[T](store, n)
	}
	t := &Table[T]{paged: paged{store: store}, n: n}
	pages := make([]page, (n+perPage-1)/perPage)
	for i := range pages {
		t.pages = append(t.pages, &pages[i])
	}
	return t
}

// newLot returns a table of n zeros that lie beside rows of other tables in one page.
func newLot[T any](store *Store, n int) *Table[T] {
	t := &struct {
		Table[T]
		page [1]*page
	}{Table: Table[T]{paged: paged{store: store}, n: n}}
	t.page[0], t.first = store.lot(n, int(unsafe.Sizeof(*(*T)(nil))))
	t.pages = t.page[:]
	return &t.Table
}

// Sealed returns the table as one that does not grow any more, and so needs no room for it:
// rows that are too few for a page are put beside those of other tables, and without any it is
// nil. The table itself must not be used afterwards.
func (t *Table[T]) Sealed() *Table[T] {
	switch {
	case t.Len() == 0:
		return nil
	case len(t.pages) > 1 || t.pages[0].home != nil:
		t.last = nil
		t.retire(true)
		t.store.release(nil, t.next)
		t.next = group{}
		return t
	}
	sealed := newLot[T](t.store, t.n)
	copy(sealed.From(0), t.last)
	t.Release()
	return sealed
}

func headOf[T any](rows []T) unsafe.Pointer { return unsafe.Pointer(unsafe.SliceData(rows)) }

// perPage returns the number of rows in a full page: for each type a constant.
func perPage[T any]() int { return pageBytes / int(unsafe.Sizeof(*(*T)(nil))) }

// Len returns the number of rows.
func (t *Table[T]) Len() int {
	if t == nil {
		return 0
	}
	return t.n
}

// Append adds a row and returns its index.
func (t *Table[T]) Append(row T) int {
	*t.Next() = row
	return t.n - 1
}

// Next adds a row of zeros and returns it to be filled in. The pointer is valid until the
// next row is added.
func (t *Table[T]) Next() *T {
	n := len(t.last)
	if n == cap(t.last) {
		t.grow()
		n = len(t.last)
	}
	t.last = t.last[:n+1]
	t.n++
	return &t.last[n]
}

// AppendRows adds rows.
func (t *Table[T]) AppendRows(rows []T) {
	for len(rows) > 0 {
		n := len(t.last)
		if n == cap(t.last) {
			t.grow()
			n = len(t.last)
		}
		k := copy(t.last[n:cap(t.last)], rows)
		t.last, t.n, rows = t.last[:n+k], t.n+k, rows[k:]
	}
}

// Extend adds n rows of zeros.
func (t *Table[T]) Extend(n int) {
	for n > 0 {
		if len(t.last) == cap(t.last) {
			t.grow()
		}
		k := min(n, cap(t.last)-len(t.last))
		t.last, t.n, n = t.last[:len(t.last)+k], t.n+k, n-k
	}
}

// firstRows is the number of rows for which a table has memory at first.
const firstRows = 4

// grow makes room for a row: by doubling the memory of the first page, for there are many
// small tables, or by a new page.
func (t *Table[T]) grow() {
	n, perPage := len(t.last), perPage[T]()
	if n == perPage || len(t.pages) == 0 {
		if n > 0 {
			t.retire(false)
		}
		t.pages = append(t.pages, new(page))
		n, t.last = 0, nil
	}
	p := t.pages[len(t.pages)-1]
	old := t.last
	if size := max(firstRows, 2*n); len(t.pages) == 1 && size < perPage {
		t.last = make([]T, n, size)
		atomic.StorePointer(&p.rows, headOf(t.last[:1]))
	} else {
		t.store.place(p)
		t.last = unsafe.Slice((*T)(unsafe.Pointer(p.home)), perPage)[:n]
	}
	copy(t.last, old)
}

// retire tells the store that the last page does not grow any more.
func (t *Table[T]) retire(last bool) {
	t.store.retire(t.pages[len(t.pages)-1], &t.next, len(t.pages) >= extentFrames, last)
}

// place returns the page of row i and the row's index in it. The quotient is one of a
// constant, which takes a product: every access needs it.
func (t *Table[T]) place(i int) (k, at int) {
	n := uint(perPage[T]())
	row := uint(i + t.first)
	return int(row / n), int(row % n)
}

// Ptr returns row i for reading and writing. The pointer is valid until Release, and while
// the table grows until the next row is added.
func (t *Table[T]) Ptr(i int) *T {
	k, at := t.place(i)
	return (*T)(unsafe.Add(t.rowsOf(k), uintptr(at)*unsafe.Sizeof(*(*T)(nil))))
}

// At returns row i.
func (t *Table[T]) At(i int) T { return *t.Ptr(i) }

// Set replaces row i.
func (t *Table[T]) Set(i int, row T) { *t.Ptr(i) = row }

// From returns row i and as many of those behind it as lie beside it in memory: at least
// one, none at the end of the table. They may be read and written until Release.
func (t *Table[T]) From(i int) []T {
	if i >= t.Len() {
		return nil
	}
	k, at := t.place(i)
	n := perPage[T]()
	return unsafe.Slice((*T)(t.rowsOf(k)), min(n, t.first+t.n-k*n))[at:]
}

// Copy copies rows into dst, from row i on, and returns their number.
func (t *Table[T]) Copy(dst []T, i int) int {
	n := 0
	for n < len(dst) && i+n < t.Len() {
		n += copy(dst[n:], t.From(i+n))
	}
	return n
}

// Rows iterates over runs of rows that lie beside each other, in order, with the index of
// the first row of each. They may be read and written until Release.
func (t *Table[T]) Rows(yield func(first int, rows []T) bool) {
	for i := 0; i < t.Len(); {
		rows := t.From(i)
		if !yield(i, rows) {
			return
		}
		i += len(rows)
	}
}

// Change says whether rows are going to change, most of them after they are read: what comes into memory meanwhile is made ready for that,
// else the system learns of it from each of its pages.
func (t *Table[T]) Change(on bool) {
	if t != nil {
		t.change = on
	}
}

// lineBytes is how much a processor reads from memory at a time, at least.
const lineBytes = 64

// ReadAhead reads rows from one to another, in order and as far as they are in memory. Whoever looks them up soon, in any order, finds them
// at hand: that takes a fraction of the time of looking for each in memory. What it returns means nothing, and makes that it is not left
// out.
//
//go:noinline
func (t *Table[T]) ReadAhead(from, to int) (sum byte) {
	row := unsafe.Sizeof(*(*T)(nil))
	for from < to {
		k, at := t.place(from)
		n := min(perPage[T]()-at, to-from)
		if rows := atomic.LoadPointer(&t.pages[k].rows); rows != nil {
			for at, end := uintptr(at)*row, uintptr(at+n)*row; at < end; at += lineBytes {
				sum += *(*byte)(unsafe.Add(rows, at))
			}
		}
		from += n
	}
	return sum
}

// Release lets all rows go. The table must not be used afterwards.
func (t *Table[T]) Release() {
	if t == nil {
		return
	}
	t.store.release(t.pages, t.next)
	t.pages, t.last, t.next, t.n = nil, nil, group{}, 0
}

// A Cursor gives rows of a table that does not grow any more, one at a time and mostly in
// order: as long as they lie beside each other, at hardly any cost. One goroutine uses it.
type Cursor[T any] struct {
	table *Table[T]
	first int // rows begin with this one of the table
	rows  []T
}

// Cursor returns a cursor over the table.
func (t *Table[T]) Cursor() Cursor[T] { return Cursor[T]{table: t} }

// Ptr returns row i for reading and writing. The pointer is valid until the table's Release.
func (c *Cursor[T]) Ptr(i int) *T {
	if k := uint(i - c.first); k < uint(len(c.rows)) {
		return &c.rows[k]
	}
	return c.move(i)
}

// move goes to the page of row i.
func (c *Cursor[T]) move(i int) *T {
	_, at := c.table.place(i)
	c.first = max(i-at, 0)
	c.rows = c.table.From(c.first)
	return &c.rows[i-c.first]
}
