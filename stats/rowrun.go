package stats

import "tracekit/spill"

// A rowRun goes over the rows of a table, one after the other.
//
//	rows lie beside each other; the next one is rows[at], the first one row first of the table
type rowRun[T any] struct {
	table *spill.Table[T]
	rows  []T
	first int
	at    int
}

// next returns the next row, of which there must be one, for reading and writing.
func (r *rowRun[T]) next() *T {
	if r.at == len(r.rows) {
		r.more()
	}
	r.at++
	return &r.rows[r.at-1]
}

func (r *rowRun[T]) more() {
	r.first, r.at = r.first+r.at, 0
	r.rows = r.table.From(r.first)
}

// end reports whether there are no more rows.
func (r *rowRun[T]) end() bool { return r.first+r.at == r.table.Len() }
