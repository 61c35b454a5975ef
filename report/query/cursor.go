package query

import (
	"math"
	"slices"
	"strings"

	"modernc.org/sqlite/vtab"
)

// A plan says how a query goes through a table.
type plan struct {
	tests   []test // in the order of the values that they get
	by      int    // column by whose order the rows are visited; -1: in their own
	down    bool   // from the greatest to the least
	columns uint64 // that are used
}

// A test is a comparison of a column with a value.
type test struct {
	column int
	op     vtab.ConstraintOp
}

// BestIndex implements vtab.Table. Comparisons with values are tested while rows are visited; SQLite tests them again. Rows are visited by
// the column of an equality that has the most different values. Else it is that of ORDER BY or GROUP BY, if it is one column.
func (t *table) BestIndex(info *vtab.IndexInfo) error {
	p := &plan{by: -1, columns: info.ColUsed}
	for i := range info.Constraints {
		c := &info.Constraints[i]
		if c.Column >= 0 && c.Usable && slices.Contains([]vtab.ConstraintOp{vtab.OpEQ, vtab.OpGT, vtab.OpGE, vtab.OpLT, vtab.OpLE}, c.Op) {
			c.ArgIndex = len(p.tests)
			p.tests = append(p.tests, test{c.Column, c.Op})
			p.columns |= 1 << min(c.Column, 63)
		}
	}
	if err := t.load(p.columns); err != nil {
		return err
	}
	rows, most := float64(t.rows), int64(0)
	for _, x := range p.tests {
		switch n := t.columns[x.column].distinct(); {
		case x.op != vtab.OpEQ:
			rows /= 4
		case n > most:
			most, p.by = n, x.column
		}
	}
	rows /= float64(max(1, most))
	if len(info.OrderBy) == 1 && info.OrderBy[0].Column >= 0 && p.by < 0 {
		p.by, p.down = info.OrderBy[0].Column, info.OrderBy[0].Desc
		if err := t.load(1 << min(p.by, 63)); err != nil {
			return err
		}
		info.OrderByConsumed = true
	}
	info.EstimatedRows, info.EstimatedCost = int64(rows)+1, rows+10
	info.IdxNum, t.plans = int64(len(t.plans)), append(t.plans, p)
	return nil
}

// Open implements vtab.Table.
func (t *table) Open() (vtab.Cursor, error) { return &cursor{table: t}, nil }

// Disconnect implements vtab.Table.
func (t *table) Disconnect() error { return nil }

// Destroy implements vtab.Table.
func (t *table) Destroy() error { return nil }

// A cursor visits rows of a table.
type cursor struct {
	table      *table
	plan       *plan
	conditions []condition
	place, end int // of the order, the next one and behind the last one
	step       int // 1, or -1: from end to begin
	row        int
}

// A condition is what a column must hold.
type condition struct {
	column *column
	within extent
	names  []bool // by place; nil: any within
}

func (c *condition) holds(row int) bool {
	v := c.column.values.At(row)
	return v >= c.within.least && v <= c.within.greatest && v != absent && (c.names == nil || c.names[v])
}

// Filter implements vtab.Cursor.
func (c *cursor) Filter(number int, _ string, values []vtab.Value) error {
	t, p := c.table, c.table.plans[number]
	if err := t.load(p.columns); err != nil {
		return err
	}
	c.plan, c.conditions, c.step = p, c.conditions[:0], 1
	c.place, c.end = 0, t.rows
	for i, x := range p.tests {
		condition, ok := t.columns[x.column].condition(x.op, values[i])
		if !ok {
			continue
		}
		c.conditions = append(c.conditions, condition)
	}
	if p.by >= 0 {
		by := &t.columns[p.by]
		by.sort()
		for _, x := range c.conditions {
			if x.column == by {
				first, end := by.between(x.within)
				c.place, c.end = max(c.place, first), max(min(c.end, end), max(c.place, first))
			}
		}
	}
	if p.down {
		c.place, c.end, c.step = c.end-1, c.place-1, -1
	}
	c.find()
	return nil
}

// condition returns what a comparison demands of a column; ok is false if it is left to SQLite.
func (c *column) condition(op vtab.ConstraintOp, value vtab.Value) (out condition, ok bool) {
	out = condition{column: c, within: extent{math.MinInt64 + 1, math.MaxInt64}}
	if c.real {
		return out, false
	}
	text, isText := value.(string)
	if c.names != nil {
		if !isText || op != vtab.OpEQ {
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
	case op == vtab.OpEQ:
		w.least, w.greatest = high, low
	case op == vtab.OpGE:
		w.least = high
	case op == vtab.OpLE:
		w.greatest = low
	case op == vtab.OpGT && low < math.MaxInt64:
		w.least = low + 1
	case op == vtab.OpLT && high > math.MinInt64:
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
	out = condition{column: c, within: nothing, names: make([]bool, len(c.names))}
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
	for c.place != c.end {
		if c.plan.by < 0 && c.place%blockRows == 0 && c.skips() {
			c.place = min(c.place+blockRows, c.end)
			continue
		}
		c.row = c.place
		if c.plan.by >= 0 {
			c.row = c.table.columns[c.plan.by].at(c.place)
		}
		if !slices.ContainsFunc(c.conditions, func(x condition) bool { return !x.holds(c.row) }) {
			return
		}
		c.place += c.step
	}
}

// skips reports whether no row of the block that begins at the place holds what is demanded.
func (c *cursor) skips() bool {
	for _, x := range c.conditions {
		if b := x.column.blocks[c.place/blockRows]; b.least > x.within.greatest || b.greatest < x.within.least {
			return true
		}
	}
	return false
}

// Next implements vtab.Cursor.
func (c *cursor) Next() error {
	c.place += c.step
	c.find()
	return c.table.store.Err()
}

// Eof implements vtab.Cursor.
func (c *cursor) Eof() bool { return c.place == c.end }

// Column implements vtab.Cursor.
func (c *cursor) Column(i int) (vtab.Value, error) {
	x := &c.table.columns[i]
	v := x.values.At(c.row)
	switch {
	case v == absent:
		return nil, nil
	case x.names != nil:
		return x.boxed[v], nil
	case x.real:
		return number(v), nil
	}
	return v, nil
}

// Rowid implements vtab.Cursor.
func (c *cursor) Rowid() (int64, error) { return int64(c.row), nil }

// Close implements vtab.Cursor.
func (c *cursor) Close() error { return nil }
