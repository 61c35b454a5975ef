package stats

import (
	"sync"

	"tracekit/spill"
)

// A cursor reads rows of a table one after the other, forwards or backwards. Tables may be
// used by one goroutine at a time, so that all cursors of a decoding pass share a lock,
// which they take once for a chunk of rows.
//
//	rows are rows first … first+len(rows)-1 of the table, of which left are not read yet
type cursor[T any] struct {
	lock      *sync.Mutex
	table     *spill.Table[T]
	rows      []T
	first     int
	left      int
	backwards bool
}

const cursorRows = 1024

func forwards[T any](lock *sync.Mutex, table *spill.Table[T]) *cursor[T] {
	return &cursor[T]{lock: lock, table: table}
}

func backwards[T any](lock *sync.Mutex, table *spill.Table[T]) *cursor[T] {
	return &cursor[T]{lock: lock, table: table, backwards: true, first: table.Len()}
}

// read returns the next row; ok is false at the end.
func (c *cursor[T]) read() (row T, ok bool) {
	if c.left == 0 && !c.fill() {
		return row, false
	}
	c.left--
	if c.backwards {
		return c.rows[c.left], true
	}
	return c.rows[len(c.rows)-1-c.left], true
}

// fill reads the next chunk; it reports false if there is none.
func (c *cursor[T]) fill() bool {
	c.lock.Lock()
	defer c.lock.Unlock()
	n := min(cursorRows, c.table.Len()-c.first-len(c.rows))
	if c.backwards {
		n = min(cursorRows, c.first)
		c.first -= n
	} else {
		c.first += len(c.rows)
	}
	if cap(c.rows) < n {
		c.rows = make([]T, n)
	}
	c.rows = c.rows[:n]
	c.left = c.table.Copy(c.rows, c.first)
	return n > 0
}

// An exchange replaces the rows of a table one after the other, a chunk at a time under
// the lock.
type exchange[T any] struct {
	lock  *sync.Mutex
	table *spill.Table[T]
	rows  []T
	first int // of rows in the table
	at    int // of rows: the next one
}

// peek returns the next row; ok is false at the end.
func (e *exchange[T]) peek() (row T, ok bool) {
	if e.at == len(e.rows) {
		e.flush()
		if len(e.rows) == 0 {
			return row, false
		}
	}
	return e.rows[e.at], true
}

// put replaces the row that peek returned and moves on.
func (e *exchange[T]) put(row T) {
	e.rows[e.at] = row
	e.at++
}

// flush writes the replaced rows and reads the next chunk.
func (e *exchange[T]) flush() {
	e.lock.Lock()
	defer e.lock.Unlock()
	for i, row := range e.rows[:e.at] {
		e.table.Set(e.first+i, row)
	}
	e.first, e.at = e.first+e.at, 0
	n := min(cursorRows, e.table.Len()-e.first)
	if cap(e.rows) < n {
		e.rows = make([]T, n)
	}
	e.rows = e.rows[:n]
	e.table.Copy(e.rows, e.first)
}
