package query

import (
	"iter"

	"modernc.org/libc"
	sqlite3 "modernc.org/sqlite/lib"

	"tracekit/readers/arrowdir"
)

// A query whose comparisons leave few rows reads those alone, chunk by chunk, and keeps none of them. Other queries fill columns.

// few is which share of the rows a query may want, at most, to read those alone: one of so many.
const few = 4

// A span is rows of a part, by their numbers in it, from first up to end.
type span struct {
	part       int
	first, end int
}

// A selection is the rows that a cursor reads.
type selection struct {
	next   func() (arrowdir.Chunk, error, bool)
	stop   func()
	part   int // of the chunk
	chunk  arrowdir.Chunk
	values [][]int64 // of the chunk, by column
}

// spans returns the rows outside of which no row holds the conditions, and how many they are.
func (t *table) spans(conditions []condition) (out []span, rows int) {
	for i, p := range t.parts {
		first, end := 0, p.Rows
		for _, x := range conditions {
			if c := t.Columns[x.column]; c.Names != nil || c.Real || p.Within == nil {
				continue
			}
			if from, to, ok := p.Within(x.column, x.within.least, x.within.greatest); ok {
				first, end = max(first, from), min(end, to)
			}
		}
		if first < end {
			out, rows = append(out, span{i, first, end}), rows+end-first
		}
	}
	return out, rows
}

// selects plans to read selected rows alone if comparisons with values that are known leave few of a table whose columns are not filled.
func (t *table) selects(tls *libc.TLS, p *plan, info uintptr) (rows int, ok bool, err error) {
	if t.Parts == nil || len(t.missing(p.columns)) == 0 {
		return 0, false, nil
	}
	t.look()
	var known []condition
	value := sqlite3.Xsqlite3_malloc(tls, 8)
	if value == 0 {
		return 0, false, nil
	}
	defer sqlite3.Xsqlite3_free(tls, value)
	for _, x := range p.tests {
		if t.Columns[x.column].Names != nil || sqlite3.Xsqlite3_vtab_rhs_value(tls, info, x.constraint, value) != sqlite3.SQLITE_OK {
			continue
		}
		if c, ok := t.columns[x.column].condition(x.op, valueOf(tls, *at[uintptr](value))); ok {
			c.column = x.column
			known = append(known, c)
		}
	}
	if _, rows = t.spans(known); rows > t.rows/few {
		return 0, false, nil
	}
	p.selects, p.wanted = true, nil
	for i := range t.columns {
		if p.columns>>min(i, 63)&1 == 1 {
			p.wanted = append(p.wanted, i)
		}
	}
	return rows, true, t.spell(tls, p.wanted)
}

// begin begins to read a selection.
func (c *cursor) begin() {
	t := c.table
	spans, _ := t.spans(c.conditions)
	within := t.every()
	for _, x := range c.conditions {
		within.least[x.column] = max(within.least[x.column], x.within.least)
		within.greatest[x.column] = min(within.greatest[x.column], x.within.greatest)
	}
	s := &selection{values: make([][]int64, len(t.columns))}
	s.next, s.stop = iter.Pull2(func(yield func(arrowdir.Chunk, error) bool) {
		reader := t.NewPartReader(c.plan.wanted, blockRows, within.least, within.greatest)
		for _, x := range spans {
			s.part = x.part
			for chunk, err := range reader.Read(t.parts[x.part], x.first, x.end) {
				if !yield(chunk, err) {
					return
				}
			}
		}
	})
	c.selection, c.place, c.end = s, 0, -1
}

// read goes to the next chunk of a selection. Behind the last one the cursor is at its end.
func (c *cursor) read() {
	s := c.selection
	chunk, err, ok := s.next()
	c.place, s.chunk = 0, chunk
	if !ok || err != nil {
		c.err, c.end = err, 0
		return
	}
	for _, i := range c.plan.wanted {
		s.values[i] = append(s.values[i][:0], c.table.columns[i].of(&chunk.Columns[i], chunk.Rows)...)
	}
}

// close ends what the cursor reads.
func (c *cursor) close() {
	if c.selection != nil {
		c.selection.stop()
		c.selection = nil
	}
}
