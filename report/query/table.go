package query

import (
	"cmp"
	"errors"
	"math"
	"slices"
	"strings"

	"modernc.org/libc"
	sqlite3 "modernc.org/sqlite/lib"

	"tracekit/readers/arrowdir"
	"tracekit/spill"
)

// absent is what a row has in a column where there is no value. It is less than all values, as NULL is where SQLite sorts.
const absent = math.MinInt64

// blockRows is how many rows a block has, of which a column knows the least and the greatest value.
const blockRows = 1 << 12

// A table is one table of a trace. Its columns are filled when they are first needed.
type table struct {
	arrowdir.Table
	store   *spill.Store
	columns []column
	parts   []arrowdir.Part // nil: not looked at yet
	starts  []int           // of parts, the rows before them
	rows    int             // about how many until they are counted
	counted bool
	plans   []*plan // of all queries so far
	db      uintptr // of SQLite
}

// A column is the values of a column: integers, or of names their places in the ascending list of names, so that either compare as
// integers.
type column struct {
	places []int64  // of the names by index
	names  []string // ascending, each once; nil: integers or numbers
	texts  []cText  // the names, as long as the table is open
	values *spill.Table[int64]
	blocks []extent
	last   int64    // of values
	read   []int64  // of the chunk that is being read
	real   bool     // values are numbers, as integers that compare as they do
	sorted bool     // values ascend
	order  []uint32 // rows by value; nil: not made, or the values ascend
}

// An extent is the least and the greatest of some values, absent ones left out.
type extent struct{ least, greatest int64 }

var nothing = extent{math.MaxInt64, math.MinInt64}

func (e *extent) add(v int64) { e.least, e.greatest = min(e.least, v), max(e.greatest, v) }

func newTable(of arrowdir.Table, store *spill.Store) *table {
	t := &table{Table: of, store: store, columns: make([]column, len(of.Columns))}
	for i, c := range of.Columns {
		t.columns[i].real = c.Real
	}
	return t
}

// look learns of what parts the table consists.
func (t *table) look() {
	if t.parts != nil {
		return
	}
	if t.Parts == nil {
		t.parts = []arrowdir.Part{{Append: t.Fill}}
	} else {
		t.parts = append(make([]arrowdir.Part, 0, 1), t.Parts()...)
	}
	t.counted = true
	for _, p := range t.parts {
		t.starts, t.rows = append(t.starts, t.rows), t.rows+p.Rows
		t.counted = t.counted && p.Append == nil
	}
}

// A row of a part has a number for SQLite, whatever has been read of the table.
const partBits = 40

func rowID(part, row int) int64 { return int64(part)<<partBits | int64(row) }

// id returns the number of a row of columns that are filled.
func (t *table) id(row int) int64 {
	part := search(len(t.starts), func(i int) bool { return t.starts[i] > row }) - 1
	return rowID(part, row-t.starts[part])
}

// close gives the C memory back.
func (t *table) close(tls *libc.TLS) {
	for i := range t.columns {
		if texts := t.columns[i].texts; len(texts) > 0 {
			sqlite3.Xsqlite3_free(tls, texts[0].at)
		}
	}
}

// schema is the statement that declares the table.
func (t *table) schema() string {
	var columns []string
	for _, c := range t.Columns {
		kind := "INTEGER"
		switch {
		case c.Names != nil:
			kind = "TEXT"
		case c.Real:
			kind = "REAL"
		}
		columns = append(columns, `"`+c.Name+`" `+kind)
	}
	return "CREATE TABLE x(" + strings.Join(columns, ", ") + ")"
}

// load fills those columns, by their bits, that are not filled yet, and counts the rows.
func (t *table) load(tls *libc.TLS, wanted uint64) error {
	t.look()
	fill := t.missing(wanted)
	if len(fill) == 0 && t.counted {
		return nil
	}
	if err := t.spell(tls, fill); err != nil {
		return err
	}
	for _, i := range fill {
		c := &t.columns[i]
		c.values, c.blocks, c.last, c.sorted = spill.NewTable[int64](t.store), nil, absent, true
	}
	every := t.every()
	reader := t.NewPartReader(fill, blockRows, every.least, every.greatest)
	t.rows = 0
	for k, p := range t.parts {
		t.starts[k] = t.rows
		for chunk, err := range reader.Read(p, 0, p.Rows) {
			if sqlite3.Xsqlite3_is_interrupted(tls, t.db) != 0 {
				err = errors.New("interrupted")
			}
			if err = cmp.Or(err, t.store.Err()); err != nil {
				t.counted = false
				for _, i := range fill {
					t.columns[i].values = nil // SQLite may ask again
				}
				return err
			}
			for _, i := range fill {
				t.columns[i].append(t.columns[i].of(&chunk.Columns[i], chunk.Rows))
			}
			t.rows += chunk.Rows
		}
	}
	t.counted = true
	return nil
}

// A window is the least and the greatest value that rows which are wanted have, by column.
type window struct{ least, greatest []int64 }

// every returns the window of all rows.
func (t *table) every() window {
	n := len(t.columns)
	return window{slices.Repeat([]int64{math.MinInt64}, n), slices.Repeat([]int64{math.MaxInt64}, n)}
}

// missing returns the columns, of those wanted by their bits, that are not filled yet.
func (t *table) missing(wanted uint64) (out []int) {
	for i := range t.columns {
		if wanted>>min(i, 63)&1 == 1 && t.columns[i].values == nil {
			out = append(out, i)
		}
	}
	return out
}

// spell makes the lists of names of columns.
func (t *table) spell(tls *libc.TLS, columns []int) (err error) {
	for _, i := range columns {
		if c, names := &t.columns[i], t.Columns[i].Names; names != nil && c.names == nil {
			c.names, c.places = placed(names)
			if c.texts, err = texts(tls, c.names); err != nil {
				return err
			}
		}
	}
	return nil
}

// placed returns the names in ascending order, each once, and by index the place of a name.
func placed(names []string) (ascending []string, places []int64) {
	ascending = slices.Clone(names)
	slices.Sort(ascending)
	ascending = slices.Compact(ascending)
	for _, n := range names {
		at, _ := slices.BinarySearch(ascending, n)
		places = append(places, int64(at))
	}
	return slices.Clip(ascending), places
}

// of returns the values of a chunk of the table, valid until the next one.
func (c *column) of(chunk *arrowdir.Column, rows int) []int64 {
	c.read = slices.Grow(c.read[:0], rows)[:rows]
	switch {
	case len(c.places) > 0:
		for i := range c.read {
			c.read[i] = c.places[chunk.Index[i]]
		}
	case c.real:
		for i := range c.read {
			c.read[i] = ordered(math.Float64frombits(uint64(chunk.Values[i])))
		}
	default:
		copy(c.read, chunk.Values) // none of a column without names, where all rows are absent
	}
	for i := 0; i < rows; i += 8 {
		for k := i; chunk.Valid[i/8] != 0xff && k < min(i+8, rows); k++ {
			if chunk.Valid[k/8]>>(k%8)&1 == 0 {
				c.read[k] = absent
			}
		}
	}
	return c.read
}

func (c *column) append(values []int64) {
	for len(values) > 0 {
		n := c.values.Len()
		if n%blockRows == 0 {
			c.blocks = append(c.blocks, nothing)
		}
		run := values[:min(len(values), blockRows-n%blockRows)]
		e := c.blocks[n/blockRows]
		for _, v := range run {
			if v != absent {
				e.add(v)
			}
			c.sorted = c.sorted && c.last <= v
			c.last = v
		}
		c.blocks[n/blockRows] = e
		c.values.AppendRows(run)
		values = values[len(run):]
	}
}

// ordered returns an integer for a number, so that integers compare as numbers do.
func ordered(f float64) int64 {
	return flipped(int64(math.Float64bits(f + 0))) // not -0
}

// number returns the number that ordered makes an integer of.
func number(v int64) float64 { return math.Float64frombits(uint64(flipped(v))) }

func flipped(bits int64) int64 {
	if bits < 0 {
		return bits ^ math.MaxInt64
	}
	return bits
}

// extent returns that of all values.
func (c *column) extent() extent {
	all := nothing
	for _, b := range c.blocks {
		all.least, all.greatest = min(all.least, b.least), max(all.greatest, b.greatest)
	}
	return all
}

// distinct returns how many different values the column has at most.
func (c *column) distinct() int64 {
	e := c.extent()
	if e.least > e.greatest {
		return 1
	}
	if d := uint64(e.greatest-e.least) + 2; d < uint64(c.values.Len()) {
		return int64(d)
	}
	return int64(max(1, c.values.Len()))
}

// sort makes the order of the rows by value, equal ones by row: a radix sort.
func (c *column) sort() {
	if c.sorted || c.order != nil {
		return
	}
	n := c.values.Len()
	e := c.extent()
	key := func(row uint32) uint64 { // absent values first
		if v := c.values.At(int(row)); v != absent {
			return uint64(v-e.least) + 1
		}
		return 0
	}
	rows, next := make([]uint32, n), make([]uint32, n)
	for i := range rows {
		rows[i] = uint32(i)
	}
	const bits = 11
	for shift := 0; shift < 64 && (uint64(e.greatest-e.least)+1)>>shift != 0; shift += bits {
		var count [1<<bits + 1]uint32
		for _, r := range rows {
			count[key(r)>>shift&(1<<bits-1)+1]++
		}
		for i := range 1 << bits {
			count[i+1] += count[i]
		}
		for _, r := range rows {
			at := &count[key(r)>>shift&(1<<bits-1)]
			next[*at] = r
			*at++
		}
		rows, next = next, rows
	}
	c.order = rows
}

// at returns the row at a place of the order.
func (c *column) at(place int) int {
	if c.order == nil {
		return place
	}
	return int(c.order[place])
}

// between returns the places of the order at which values lie in an extent.
func (c *column) between(e extent) (first, end int) {
	n := c.values.Len()
	first = search(n, func(i int) bool { return c.values.At(c.at(i)) >= e.least })
	end = search(n, func(i int) bool { return c.values.At(c.at(i)) > e.greatest })
	return first, max(first, end)
}

// search returns the first of n places at which a condition holds that holds from there on.
func search(n int, holds func(int) bool) int {
	low, high := 0, n
	for low < high {
		if mid := int(uint(low+high) / 2); holds(mid) {
			high = mid
		} else {
			low = mid + 1
		}
	}
	return low
}
