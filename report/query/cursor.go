package query

import (
	"cmp"
	"math"
	"strings"

	"modernc.org/libc"
	sqlite3 "modernc.org/sqlite/lib"

	"tracekit/spill"
)

// A plan says how a query goes through a table.
type plan struct {
	tests   []test // in the order of the values that they get
	by      int    // column by whose order the rows are visited; -1: in their own
	down    bool   // from the greatest to the least
	columns uint64 // that are used
	selects bool   // selected rows are read alone, of these columns
	wanted  []int
}

// A test is a comparison of a column with a value.
type test struct {
	column     int
	op         int32
	constraint int32 // number of it in the question of SQLite
}

// tested are the comparisons that a table knows.
func tested(op int32) bool {
	switch op {
	case sqlite3.SQLITE_INDEX_CONSTRAINT_EQ, sqlite3.SQLITE_INDEX_CONSTRAINT_GT, sqlite3.SQLITE_INDEX_CONSTRAINT_GE,
		sqlite3.SQLITE_INDEX_CONSTRAINT_LT, sqlite3.SQLITE_INDEX_CONSTRAINT_LE:
		return true
	}
	return false
}

// best plans a query. Comparisons with values are tested while rows are visited; SQLite tests them again. Rows are visited by the column of
// an equality that has the most different values. Else it is that of ORDER BY or GROUP BY, if it is one column.
func (t *table) best(tls *libc.TLS, question uintptr) error {
	info := at[sqlite3.Sqlite3_index_info](question)
	p := &plan{by: -1, columns: info.FcolUsed}
	usage := array[sqlite3.Tsqlite3_index_constraint_usage](info.FaConstraintUsage, info.FnConstraint)
	for i, c := range array[sqlite3.Tsqlite3_index_constraint](info.FaConstraint, info.FnConstraint) {
		if c.FiColumn >= 0 && c.Fusable != 0 && tested(int32(c.Fop)) {
			p.tests = append(p.tests, test{int(c.FiColumn), int32(c.Fop), int32(i)})
			usage[i].FargvIndex = int32(len(p.tests))
			p.columns |= 1 << min(c.FiColumn, 63)
		}
	}
	info.FidxNum, t.plans = int32(len(t.plans)), append(t.plans, p)
	if rows, ok, err := t.selects(tls, p, question); ok || err != nil {
		info.FestimatedRows, info.FestimatedCost = int64(rows)+1, float64(rows)+10
		return err
	}
	if err := t.load(tls, p.columns); err != nil {
		return err
	}
	rows, most := float64(t.rows), int64(0)
	for _, x := range p.tests {
		switch n := t.columns[x.column].distinct(); {
		case x.op != sqlite3.SQLITE_INDEX_CONSTRAINT_EQ:
			rows /= 4
		case n > most:
			most, p.by = n, x.column
		}
	}
	rows /= float64(max(1, most))
	if order := array[sqlite3.Tsqlite3_index_orderby](info.FaOrderBy, info.FnOrderBy); len(order) == 1 && order[0].FiColumn >= 0 && p.by < 0 {
		p.by, p.down = int(order[0].FiColumn), order[0].Fdesc != 0
		if err := t.load(tls, 1<<min(p.by, 63)); err != nil {
			return err
		}
		info.ForderByConsumed = 1
	}
	info.FestimatedRows, info.FestimatedCost = int64(rows)+1, rows+10
	return nil
}

// A cursor visits rows of a table.
type cursor struct {
	table      *table
	plan       *plan
	conditions []condition
	place, end int // of the order, the next one and behind the last one
	step       int // 1, or -1: from end to begin
	row        int
	cells      []spill.Cursor[int64] // by column
	selection  *selection            // nil: cells have the values. Else place and row are those of its chunk, and end is -1 up to the end
	err        error
}

// value returns that of a column in the row.
func (c *cursor) value(column int) int64 {
	if s := c.selection; s != nil {
		return s.values[column][c.row]
	}
	return *c.cells[column].Ptr(c.row)
}

// id returns the number of the row.
func (c *cursor) id() int64 {
	if s := c.selection; s != nil {
		return rowID(s.part, s.chunk.Number(c.row))
	}
	return c.table.id(c.row)
}

// A condition is what a column must hold.
type condition struct {
	column int
	within extent
	names  []bool // by place; nil: any within
}

func (c *condition) holds(v int64) bool {
	return v >= c.within.least && v <= c.within.greatest && v != absent && (c.names == nil || c.names[v])
}

// filter begins to visit the rows of a plan that has got its values. Its columns are there, since best has loaded them, or are read by row.
func (c *cursor) filter(number int, values []any) error {
	t, p := c.table, c.table.plans[number]
	c.plan, c.conditions, c.step = p, c.conditions[:0], 1
	c.place, c.end = 0, t.rows
	c.cells = make([]spill.Cursor[int64], len(t.columns))
	for i := range t.columns {
		c.cells[i] = t.columns[i].values.Cursor()
	}
	for i, x := range p.tests {
		condition, ok := t.columns[x.column].condition(x.op, values[i])
		if !ok {
			continue
		}
		condition.column = x.column
		c.conditions = append(c.conditions, condition)
	}
	c.close()
	if c.err = nil; p.selects {
		c.begin()
	} else if p.by >= 0 {
		by := &t.columns[p.by]
		by.sort()
		for _, x := range c.conditions {
			if x.column == p.by {
				first, end := by.between(x.within)
				c.place, c.end = max(c.place, first), max(min(c.end, end), max(c.place, first))
			}
		}
	}
	if p.down {
		c.place, c.end, c.step = c.end-1, c.place-1, -1
	}
	c.find()
	return cmp.Or(c.err, t.store.Err())
}

// condition returns what a comparison demands of a column; ok is false if it is left to SQLite.
func (c *column) condition(op int32, value any) (out condition, ok bool) {
	out = condition{within: extent{math.MinInt64 + 1, math.MaxInt64}}
	if c.real {
		return out, false
	}
	text, isText := value.(string)
	if c.names != nil {
		if !isText || op != sqlite3.SQLITE_INDEX_CONSTRAINT_EQ {
			return out, false
		}
		return c.named(text)
	}
	var low, high int64 // the greatest integer that is not above the value, the least that is not below
	switch v := value.(type) {
	case int64:
		low, high = v, v
	case float64:
		if !(math.Abs(v) < 1<<62) {
			return out, false
		}
		low, high = int64(math.Floor(v)), int64(math.Ceil(v))
	default:
		return out, false
	}
	switch w := &out.within; {
	case op == sqlite3.SQLITE_INDEX_CONSTRAINT_EQ:
		w.least, w.greatest = high, low
	case op == sqlite3.SQLITE_INDEX_CONSTRAINT_GE:
		w.least = high
	case op == sqlite3.SQLITE_INDEX_CONSTRAINT_LE:
		w.greatest = low
	case op == sqlite3.SQLITE_INDEX_CONSTRAINT_GT && low < math.MaxInt64:
		w.least = low + 1
	case op == sqlite3.SQLITE_INDEX_CONSTRAINT_LT && high > math.MinInt64:
		w.greatest = high - 1
	default:
		return out, false
	}
	return out, true
}

// named demands a name, whatever the collation of the comparison: case and spaces at the end may not matter.
func (c *column) named(text string) (out condition, ok bool) {
	fold := func(s string) string { return strings.ToLower(strings.TrimRight(s, " ")) }
	text = fold(text)
	out = condition{within: nothing, names: make([]bool, len(c.names))}
	for i, n := range c.names {
		if fold(n) == text {
			out.names[i] = true
			out.within.add(int64(i))
		}
	}
	return out, true
}

// find goes on from the place to the next row that holds what is demanded.
func (c *cursor) find() {
	for ; c.place != c.end; c.place += c.step {
		if c.selection != nil && c.place == c.selection.chunk.Rows {
			if c.read(); c.end == 0 {
				return
			}
		}
		c.row = c.place
		if c.selection != nil {
			// its spans have left out what can be
		} else if c.plan.by >= 0 {
			c.row = c.table.columns[c.plan.by].at(c.place)
		} else if c.place%blockRows == 0 && c.skips() {
			c.place = min(c.place+blockRows, c.end) - 1
			continue
		}
		if c.holds() {
			return
		}
	}
}

// holds reports whether the row holds what is demanded.
func (c *cursor) holds() bool {
	for i := range c.conditions {
		if x := &c.conditions[i]; !x.holds(c.value(x.column)) {
			return false
		}
	}
	return true
}

// skips reports whether no row of the block that begins at the place holds what is demanded.
func (c *cursor) skips() bool {
	for _, x := range c.conditions {
		if b := c.table.columns[x.column].blocks[c.place/blockRows]; b.least > x.within.greatest || b.greatest < x.within.least {
			return true
		}
	}
	return false
}

// next goes to the next row. Whether the store has failed is asked of now and then, and at the end.
func (c *cursor) next() error {
	c.place += c.step
	c.find()
	if c.place%blockRows == 0 || c.place == c.end {
		return cmp.Or(c.err, c.table.store.Err())
	}
	return nil
}
