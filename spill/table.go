package spill

import (
	"math"
	"math/bits"
	"unsafe"
)

// A Table is a growing sequence of rows of a fixed size without pointers, kept in pages
// of which those over the store's budget lie in a file. Rows are small: many fit a page.
//
// A table is used in two phases. While it grows, Append may be called on different
// tables concurrently, each by one goroutine. Afterwards all other methods may be called
// by one goroutine for all tables of the store.
type Table[T any] struct {
	store   *Store
	perPage int
	inverse uint64 // 2^64/perPage, rounded up
	n       int
	pages   []page[T]
}

// A page is a run of rows.
//
//	rows == nil: the page is in the file at off, or all zeros if off < 0
//	off < 0: the page was never written
//	cap(rows) == perPage: the rows lie in a frame of the store
type page[T any] struct {
	rows  []T
	off   int64
	dirty bool
	used  bool
}

// NewTable returns an empty table in the store.
func NewTable[T any](store *Store) *Table[T] {
	var row T
	perPage := pageBytes / int(unsafe.Sizeof(row))
	return &Table[T]{store: store, perPage: perPage, inverse: math.MaxUint64/uint64(perPage) + 1}
}

// NewZeros returns a table of n rows of zeros in the store, which does not grow. Rows take
// memory only once they are used.
func NewZeros[T any](store *Store, n int) *Table[T] {
	t := NewTable[T](store)
	t.n = n
	if n < t.perPage/2 {
		t.pages = []page[T]{{rows: make([]T, n), off: -1}}
		return t
	}
	for range (n + t.perPage - 1) / t.perPage {
		t.pages = append(t.pages, page[T]{off: -1})
	}
	return t
}

// Len returns the number of rows.
func (t *Table[T]) Len() int { return t.n }

// Append adds a row and returns its index.
func (t *Table[T]) Append(row T) int {
	*t.Next() = row
	return t.n - 1
}

// Next adds a row of zeros and returns it to be filled in. The pointer is valid until the
// next row is added.
func (t *Table[T]) Next() *T {
	if len(t.pages) == 0 || len(t.pages[len(t.pages)-1].rows) == t.perPage {
		t.nextPage()
	}
	p := &t.pages[len(t.pages)-1]
	n := len(p.rows)
	if n == cap(p.rows) {
		t.grow(p)
	}
	p.rows = p.rows[:n+1]
	t.n++
	return &p.rows[n]
}

// firstRows is the number of rows for which a table has memory at first.
const firstRows = 16

// grow doubles the memory of the first page: there are many small tables. From half a
// page on it has a frame, as the pages after it have from the start.
func (t *Table[T]) grow(p *page[T]) {
	old, n := p.rows, max(firstRows, 2*len(p.rows))
	if n < t.perPage {
		p.rows = make([]T, len(old), n)
	} else {
		p.rows = t.rowsIn(t.growing(), t.perPage)
		clear(p.rows[len(old):])
		p.rows = p.rows[:len(old)]
	}
	copy(p.rows, old)
}

func (t *Table[T]) nextPage() {
	next := page[T]{off: -1, dirty: true}
	if len(t.pages) > 0 {
		next.rows = t.rowsIn(t.growing(), t.perPage)
		clear(next.rows)
		next.rows = next.rows[:0]
	}
	t.pages = append(t.pages, next)
}

// growing returns a frame for a table that grows. The table's last page, if it is full, is
// watched from now on, or written out to give its frame if there is no other: so no table
// touches another one.
func (t *Table[T]) growing() *frame {
	f, last := t.store.take(), len(t.pages)-1
	full := last >= 0 && len(t.pages[last].rows) == t.perPage
	if f == nil && full {
		t.evict(last)
		full = t.pages[last].rows != nil
		f = t.store.take()
	}
	if full {
		t.store.watch(tablePage{t, last})
	}
	if f == nil {
		f = t.store.exceed()
	}
	return f
}

// rowsIn returns a frame as n rows.
func (t *Table[T]) rowsIn(f *frame, n int) []T {
	return unsafe.Slice((*T)(unsafe.Pointer(f)), t.perPage)[:n]
}

// Recent returns row i for reading and writing while the table grows, nil if the row's
// page is full and may have left memory. The pointer is valid until the next Append.
func (t *Table[T]) Recent(i int) *T {
	k := t.pageOf(i)
	if k != len(t.pages)-1 {
		return nil
	}
	return &t.pages[k].rows[i-k*t.perPage]
}

// pageOf returns i/perPage: with a product instead of a quotient, since every access
// needs it. It is exact for i < 2^48, perPage being less than 2^16.
func (t *Table[T]) pageOf(i int) int {
	k, _ := bits.Mul64(uint64(i), t.inverse)
	return int(k)
}

// recent implements tablePage.
func (t *Table[T]) recent(i int) bool {
	p := &t.pages[i]
	used := p.used
	p.used = false
	return used
}

// evict implements tablePage.
func (t *Table[T]) evict(i int) bool {
	p := &t.pages[i]
	if p.rows == nil {
		return true
	}
	if p.dirty {
		off, ok := t.store.write(frameOf(p.rows), p.off)
		if !ok {
			return false
		}
		p.off, p.dirty = off, false
	}
	t.drop(p)
	return true
}

// drop lets the rows of a page go.
func (t *Table[T]) drop(p *page[T]) {
	if cap(p.rows) == t.perPage {
		t.store.put(frameOf(p.rows))
	}
	p.rows = nil
}

// load returns a page, which it reads if need be.
func (t *Table[T]) load(i int) *page[T] {
	p := &t.pages[i]
	if p.rows == nil {
		f := t.store.admit(tablePage{t, i})
		if p.off < 0 {
			clear(f[:])
		} else {
			t.store.read(f, p.off)
		}
		rows := t.rowsIn(f, min(t.perPage, t.n-i*t.perPage))
		p.rows = rows
	}
	p.used = true
	return p
}

// Ref returns row i for reading: for few of the fields of many rows, of which At would
// copy all. The pointer is valid until the next use of any table of the store.
func (t *Table[T]) Ref(i int) *T {
	k := t.pageOf(i)
	return &t.load(k).rows[i-k*t.perPage]
}

// At returns row i.
func (t *Table[T]) At(i int) T { return *t.Ref(i) }

// Copy copies rows into dst, from row i on, and returns their number.
func (t *Table[T]) Copy(dst []T, i int) int {
	n := 0
	for n < len(dst) && i+n < t.n {
		k := t.pageOf(i + n)
		n += copy(dst[n:], t.load(k).rows[i+n-k*t.perPage:])
	}
	return n
}

// Ptr returns row i for reading and writing. The pointer is valid until the next use of
// any table of the store.
func (t *Table[T]) Ptr(i int) *T {
	k := t.pageOf(i)
	p := t.load(k)
	p.dirty = true
	return &p.rows[i-k*t.perPage]
}

// Set replaces row i.
func (t *Table[T]) Set(i int, row T) { *t.Ptr(i) = row }

// Release lets all rows go. The table must not be used afterwards.
func (t *Table[T]) Release() {
	for i := range t.pages {
		t.drop(&t.pages[i])
		t.pages[i].used = false
	}
}

// Rows iterates over the page-wise runs of rows in order; a run is valid until the next
// use of any table of the store and must not be written.
func (t *Table[T]) Rows(yield func(first int, rows []T) bool) {
	for i := range t.pages {
		if !yield(i*t.perPage, t.load(i).rows) {
			return
		}
	}
}

// Edit is Rows for runs that are changed.
func (t *Table[T]) Edit(yield func(first int, rows []T) bool) {
	for i := range t.pages {
		p := t.load(i)
		p.dirty = true
		if !yield(i*t.perPage, p.rows) {
			return
		}
	}
}

// frameOf returns the frame that the rows of a page lie in.
func frameOf[T any](rows []T) *frame {
	return (*frame)(unsafe.Pointer(unsafe.SliceData(rows)))
}
