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

func rowsOf[T any](t *spill.Table[T]) rowRun[T] { return rowRun[T]{table: t} }

// next returns the next row for reading and writing, nil if there is none.
func (r *rowRun[T]) next() *T {
	if r.at >= len(r.rows) && !r.more() {
		return nil
	}
	r.at++
	return &r.rows[r.at-1]
}

func (r *rowRun[T]) more() bool {
	r.first, r.at = r.first+len(r.rows), 0
	r.rows = r.table.From(r.first)
	return len(r.rows) > 0
}
