package query

import (
	"modernc.org/libc"
	sqlite3 "modernc.org/sqlite/lib"

	"tracekit/readers/arrowdir"
)

// A query whose comparisons leave few rows reads those alone, chunk by chunk, and keeps none of them. Other queries fill columns.

// few is which share of the rows a query may want, at most, to read those alone: one of so many.
const few = 4

// A span is rows of a part, by their numbers in the table, from first up to end.
type span struct {
	part       int
	first, end int
}

// A selection is the rows that a cursor reads.
type selection struct {
	spans  []span // the first one is being read
	reader *arrowdir.PartReader
	first  int       // row of the chunk
	rows   int       // of the chunk
	values [][]int64 // of the chunk, by column
}

// spans returns the rows outside of which no row holds the conditions, and how many they are.
func (t *table) spans(conditions []condition) (out []span, rows int) {
	for i, p := range t.Parts {
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
			out, rows = append(out, span{i, t.starts[i] + first, t.starts[i] + end}), rows+end-first
		}
	}
	return out, rows
}

// selects plans to read selected rows alone if comparisons with values that are known leave few of a table whose columns are not filled.
func (t *table) selects(tls *libc.TLS, p *plan, info uintptr) (rows int, ok bool, err error) {
	if t.Parts == nil || len(t.missing(p.columns)) == 0 {
		return 0, false, nil
	}
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

// begin goes to the first row of a selection.
func (c *cursor) begin() {
	spans, _ := c.table.spans(c.conditions)
	c.selection = &selection{spans: spans, reader: c.table.NewPartReader(c.plan.wanted), values: make([][]int64, len(c.table.columns))}
	c.place, c.end = 0, 0
	if len(spans) > 0 {
		c.place, c.end = spans[0].first, spans[len(spans)-1].end
	}
}

// read makes sure that the chunk has the row at the place, which is behind the rows read so far. It goes to the next span behind one.
func (c *cursor) read() {
	s := c.selection
	if s.spans[0].end == c.place {
		s.spans = s.spans[1:]
		c.place = s.spans[0].first
	}
	if c.place < s.first+s.rows {
		return
	}
	now := s.spans[0]
	s.first, s.rows = c.place, min(now.end-c.place, blockRows)
	group := s.reader.Read(c.table.Parts[now.part], s.first-c.table.starts[now.part], s.rows)
	for _, i := range c.plan.wanted {
		s.values[i] = s.values[i][:0]
		for k := range s.rows {
			s.values[i] = append(s.values[i], c.table.columns[i].value(&group[i], k))
		}
	}
}
