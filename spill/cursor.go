package spill

// A Cursor gives rows of a table that does not grow any more, one at a time and mostly in
// order: as long as they lie beside each other, at hardly any cost. One goroutine uses it.
type Cursor[T any] struct {
	table *Table[T]
	first int // rows begin with this one of the table
	rows  []T
}

// Cursor returns a cursor over the table.
func (t *Table[T]) Cursor() Cursor[T] { return Cursor[T]{table: t} }

// Ptr returns row i for reading and writing. The pointer is valid until the table's Release.
func (c *Cursor[T]) Ptr(i int) *T {
	if k := uint(i - c.first); k < uint(len(c.rows)) {
		return &c.rows[k]
	}
	return c.move(i)
}

// move goes to the page of row i.
func (c *Cursor[T]) move(i int) *T {
	_, at := c.table.place(i)
	c.first = max(i-at, 0)
	c.rows = c.table.From(c.first)
	return &c.rows[i-c.first]
}
