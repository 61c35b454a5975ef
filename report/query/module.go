package query

import (
	"fmt"
	"math"
	"strconv"
	"sync"
	"sync/atomic"
	"unsafe"

	"modernc.org/libc"
	sqlite3 "modernc.org/sqlite/lib"
)

// Tables are a module of SQLite by its C interface: a query calls these functions for every row and cell, and the interface of the driver
// takes several locks and allocations for each. C memory holds the numbers of Go values, never pointers to them.

// module is the name of the module whose tables are those of traces.
const module = "tracekit"

type (
	cTable struct {
		base sqlite3.Sqlite3_vtab
		of   int64 // in tables
	}
	cCursor struct {
		base sqlite3.Sqlite3_vtab_cursor
		of   int64 // in cursors
	}
)

var (
	tables  numbered[table]
	cursors numbered[cursor]
)

// numbered has values by numbers. Who has a number finds its value without a lock.
type numbered[T any] struct {
	mu   sync.Mutex
	free []int64
	all  atomic.Pointer[[]*T]
}

func (n *numbered[T]) add(v *T) int64 {
	n.mu.Lock()
	defer n.mu.Unlock()
	var all []*T
	if old := n.all.Load(); old != nil {
		all = *old
	}
	if last := len(n.free) - 1; last >= 0 {
		i := n.free[last]
		n.free, all[i] = n.free[:last], v
		return i
	}
	all = append(all, v)
	n.all.Store(&all)
	return int64(len(all) - 1)
}

func (n *numbered[T]) of(i int64) *T { return (*n.all.Load())[i] }

func (n *numbered[T]) drop(i int64) {
	n.mu.Lock()
	defer n.mu.Unlock()
	(*n.all.Load())[i] = nil
	n.free = append(n.free, i)
}

// at returns what C memory has at an address.
func at[T any](address uintptr) *T { return *(**T)(unsafe.Pointer(&address)) }

// array returns an array of C memory.
func array[T any](address uintptr, n int32) []T { return unsafe.Slice(at[T](address), n) }

// function returns the address by which the translated SQLite calls a function.
func function[T any](f T) uintptr { return *(*uintptr)(unsafe.Pointer(&struct{ f T }{f})) }

// registered makes every connection of the process know the module.
var registered = sync.OnceValue(func() error {
	tls := libc.NewTLS()
	if code := sqlite3.Xsqlite3_auto_extension(tls, function(register)); code != sqlite3.SQLITE_OK {
		return fmt.Errorf("SQLite refuses the tables of traces (code %d)", code)
	}
	return nil
})

var callbacks = sync.OnceValue(func() *sqlite3.Sqlite3_module {
	address := sqlite3.Xsqlite3_malloc(libc.NewTLS(), int32(unsafe.Sizeof(sqlite3.Sqlite3_module{})))
	if address == 0 {
		return nil
	}
	m := at[sqlite3.Sqlite3_module](address)
	*m = sqlite3.Sqlite3_module{
		FxCreate: function(connect), FxConnect: function(connect), FxDisconnect: function(disconnect), FxDestroy: function(disconnect),
		FxBestIndex: function(bestIndex), FxOpen: function(open), FxClose: function(closeCursor), FxFilter: function(filter),
		FxNext: function(next), FxEof: function(eof), FxColumn: function(cell), FxRowid: function(rowid),
	}
	return m
})

func register(tls *libc.TLS, db, _, _ uintptr) int32 {
	m := callbacks()
	name, err := libc.CString(module)
	if m == nil || err != nil {
		return sqlite3.SQLITE_NOMEM
	}
	defer libc.Xfree(tls, name)
	return sqlite3.Xsqlite3_create_module_v2(tls, db, name, uintptr(unsafe.Pointer(m)), 0, 0)
}

// text returns a copy of a text that SQLite may free; 0 if there is no memory.
func text(tls *libc.TLS, s string) uintptr {
	p := sqlite3.Xsqlite3_malloc64(tls, uint64(len(s))+1)
	if p != 0 {
		copy(array[byte](p, int32(len(s))), s)
		*at[byte](p + uintptr(len(s))) = 0
	}
	return p
}

func connect(tls *libc.TLS, db, _ uintptr, count int32, arguments, out, failure uintptr) int32 {
	number, err := strconv.ParseInt(libc.GoString(array[uintptr](arguments, count)[count-1]), 10, 64)
	if all := tables.all.Load(); err != nil || all == nil || number < 0 || number >= int64(len(*all)) || (*all)[number] == nil {
		*at[uintptr](failure) = text(tls, "there is no such table of a trace")
		return sqlite3.SQLITE_ERROR
	}
	schema := text(tls, tables.of(number).schema())
	p := sqlite3.Xsqlite3_malloc(tls, int32(unsafe.Sizeof(cTable{})))
	if schema == 0 || p == 0 {
		return sqlite3.SQLITE_NOMEM
	}
	defer sqlite3.Xsqlite3_free(tls, schema)
	tables.of(number).db = db
	*at[cTable](p) = cTable{of: number}
	*at[uintptr](out) = p
	return sqlite3.Xsqlite3_declare_vtab(tls, db, schema)
}

func disconnect(tls *libc.TLS, of uintptr) int32 {
	sqlite3.Xsqlite3_free(tls, of)
	return sqlite3.SQLITE_OK
}

// failed says what is wrong with a table.
func failed(tls *libc.TLS, of uintptr, err error) int32 {
	if err == nil {
		return sqlite3.SQLITE_OK
	}
	t := at[cTable](of)
	sqlite3.Xsqlite3_free(tls, t.base.FzErrMsg)
	t.base.FzErrMsg = text(tls, err.Error())
	return sqlite3.SQLITE_ERROR
}

func bestIndex(tls *libc.TLS, of, question uintptr) int32 {
	return failed(tls, of, tables.of(at[cTable](of).of).best(tls, question))
}

func open(tls *libc.TLS, of, out uintptr) int32 {
	p := sqlite3.Xsqlite3_malloc(tls, int32(unsafe.Sizeof(cCursor{})))
	if p == 0 {
		return sqlite3.SQLITE_NOMEM
	}
	*at[cCursor](p) = cCursor{of: cursors.add(&cursor{table: tables.of(at[cTable](of).of)})}
	*at[uintptr](out) = p
	return sqlite3.SQLITE_OK
}

func closeCursor(tls *libc.TLS, c uintptr) int32 {
	of := at[cCursor](c).of
	cursors.of(of).close()
	cursors.drop(of)
	sqlite3.Xsqlite3_free(tls, c)
	return sqlite3.SQLITE_OK
}

func filter(tls *libc.TLS, c uintptr, number int32, _ uintptr, count int32, arguments uintptr) int32 {
	var values []any
	for _, v := range array[uintptr](arguments, count) {
		values = append(values, valueOf(tls, v))
	}
	x := at[cCursor](c)
	return failed(tls, x.base.FpVtab, cursors.of(x.of).filter(int(number), values))
}

// valueOf returns an int64, a float64, a string, or nil for anything else.
func valueOf(tls *libc.TLS, v uintptr) any {
	switch sqlite3.Xsqlite3_value_type(tls, v) {
	case sqlite3.SQLITE_INTEGER:
		return sqlite3.Xsqlite3_value_int64(tls, v)
	case sqlite3.SQLITE_FLOAT:
		return sqlite3.Xsqlite3_value_double(tls, v)
	case sqlite3.SQLITE_TEXT:
		p := sqlite3.Xsqlite3_value_text(tls, v)
		return string(array[byte](p, sqlite3.Xsqlite3_value_bytes(tls, v)))
	}
	return nil
}

func next(tls *libc.TLS, c uintptr) int32 {
	x := at[cCursor](c)
	if err := cursors.of(x.of).next(); err != nil {
		return failed(tls, x.base.FpVtab, err)
	}
	return sqlite3.SQLITE_OK
}

func eof(_ *libc.TLS, c uintptr) int32 {
	if x := cursors.of(at[cCursor](c).of); x.place == x.end {
		return 1
	}
	return 0
}

func cell(tls *libc.TLS, c, out uintptr, i int32) int32 {
	x := cursors.of(at[cCursor](c).of)
	column := &x.table.columns[i]
	switch v := x.value(int(i)); {
	case v == absent:
		sqlite3.Xsqlite3_result_null(tls, out)
	case column.names != nil:
		t := column.texts[v]
		sqlite3.Xsqlite3_result_text(tls, out, t.at, t.bytes, sqlite3.SQLITE_STATIC)
	case column.real:
		sqlite3.Xsqlite3_result_double(tls, out, number(v))
	default:
		sqlite3.Xsqlite3_result_int64(tls, out, v)
	}
	return sqlite3.SQLITE_OK
}

func rowid(_ *libc.TLS, c, out uintptr) int32 {
	*at[int64](out) = cursors.of(at[cCursor](c).of).id()
	return sqlite3.SQLITE_OK
}

// A cText is a text in C memory.
type cText struct {
	at    uintptr
	bytes int32
}

// texts copies names into C memory, all of them into one piece, which begins with the first one.
func texts(tls *libc.TLS, names []string) ([]cText, error) {
	if len(names) == 0 {
		return nil, nil
	}
	all := uint64(1)
	for _, n := range names {
		all += uint64(len(n))
	}
	p := uintptr(0)
	if all < math.MaxInt32 {
		p = sqlite3.Xsqlite3_malloc64(tls, all)
	}
	if p == 0 {
		return nil, fmt.Errorf("there is no memory for %d bytes of names", all)
	}
	out := make([]cText, 0, len(names))
	for _, n := range names {
		out = append(out, cText{p, int32(len(n))})
		p += uintptr(copy(array[byte](p, int32(len(n))), n))
	}
	return out, nil
}
