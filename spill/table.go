package spill

import (
	"math"
	"math/bits"
	"sync/atomic"
	"unsafe"
)

// A Table is a growing sequence of rows of a fixed size without pointers. See the package's
// contract for who may use it when.
//
//	pages[:len-1] are full
//	last are the rows of the last page, with room for more, while the table grows
type Table[T any] struct {
	store   *Store
	perPage int
	inverse uint64 // 2^64/perPage, rounded up
	n       int
	pages   []*page
	last    []T

	// Tables that different goroutines fill share no cache line.
	_ [128 - 80]byte
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
	if n > 0 && n < t.perPage/2 {
		t.pages = []*page{{rows: headOf(make([]T, n))}}
		return t
	}
	pages := make([]page, (n+t.perPage-1)/t.perPage)
	for i := range pages {
		t.pages = append(t.pages, &pages[i])
	}
	return t
}

func headOf[T any](rows []T) unsafe.Pointer { return unsafe.Pointer(unsafe.SliceData(rows)) }

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
const firstRows = 16

// grow makes room for a row: by doubling the memory of the first page, for there are many
// small tables, or by a new page.
func (t *Table[T]) grow() {
	n := len(t.last)
	if n == t.perPage || len(t.pages) == 0 {
		t.pages = append(t.pages, new(page))
		n, t.last = 0, nil
	}
	p := t.pages[len(t.pages)-1]
	old := t.last
	if size := max(firstRows, 2*n); len(t.pages) == 1 && size < t.perPage {
		t.last = make([]T, n, size)
		atomic.StorePointer(&p.rows, headOf(t.last[:1]))
	} else {
		t.store.place(p)
		t.last = unsafe.Slice((*T)(unsafe.Pointer(p.home)), t.perPage)[:n]
	}
	copy(t.last, old)
}

// pageOf returns i/perPage: with a product instead of a quotient, since every access
// needs it. It is exact for i < 2^48, perPage being less than 2^16.
func (t *Table[T]) pageOf(i int) int {
	k, _ := bits.Mul64(uint64(i), t.inverse)
	return int(k)
}

// rowsOf returns the first row of a page.
func (t *Table[T]) rowsOf(p *page) unsafe.Pointer {
	if rows := atomic.LoadPointer(&p.rows); rows != nil {
		return rows
	}
	return t.store.load(p)
}

// Ptr returns row i for reading and writing. The pointer is valid until Release, and while
// the table grows until the next row is added.
func (t *Table[T]) Ptr(i int) *T {
	k := t.pageOf(i)
	rows, i := t.rowsOf(t.pages[k]), i-k*t.perPage
	return (*T)(unsafe.Add(rows, uintptr(i)*unsafe.Sizeof(*(*T)(nil))))
}

// At returns row i.
func (t *Table[T]) At(i int) T { return *t.Ptr(i) }

// Set replaces row i.
func (t *Table[T]) Set(i int, row T) { *t.Ptr(i) = row }

// From returns row i and as many of those behind it as lie beside it in memory: at least
// one, none at the end of the table. They may be read and written until Release.
func (t *Table[T]) From(i int) []T {
	if i >= t.n {
		return nil
	}
	k := t.pageOf(i)
	rows := unsafe.Slice((*T)(t.rowsOf(t.pages[k])), min(t.perPage, t.n-k*t.perPage))
	return rows[i-k*t.perPage:]
}

// Copy copies rows into dst, from row i on, and returns their number.
func (t *Table[T]) Copy(dst []T, i int) int {
	n := 0
	for n < len(dst) && i+n < t.n {
		n += copy(dst[n:], t.From(i+n))
	}
	return n
}

// Rows iterates over runs of rows that lie beside each other, in order, with the index of
// the first row of each. They may be read and written until Release.
func (t *Table[T]) Rows(yield func(first int, rows []T) bool) {
	for i := 0; i < t.n; {
		rows := t.From(i)
		if !yield(i, rows) {
			return
		}
		i += len(rows)
	}
}

// Release lets all rows go. The table must not be used afterwards.
func (t *Table[T]) Release() {
	for _, p := range t.pages {
		t.store.release(p)
	}
	t.pages, t.last, t.n = nil, nil, 0
}
