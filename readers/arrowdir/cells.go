package arrowdir

import (
	"errors"
	"fmt"
	"io"
	"math"
	"strings"

	"tracekit/readers/internal/wire"
)

// Tables of other programs: columns of any names, of which some values may be missing.

// A CellKind says what the values of a column are.
type CellKind uint8

// The kinds.
const (
	NoCells CellKind = iota // of a type that is not read
	IntCells
	FloatCells
	TextCells
)

// A CellColumn describes a column of a table of another program.
type CellColumn struct {
	Name string
	Kind CellKind
	Unit float64 // ns that 1 stands for, of times and durations that say so; 0: not known
}

// Cells are consecutive values of a column, in the slice of its kind. They are valid until the next ones are read.
type Cells struct {
	Valid  []bool // one for each; the others count for nothing where it is false
	Ints   []int64
	Floats []float64
	Texts  [][]byte
}

// reset empties the cells.
func (c *Cells) reset() {
	c.Valid, c.Ints, c.Floats, c.Texts = c.Valid[:0], c.Ints[:0], c.Floats[:0], c.Texts[:0]
}

// None adds n values that are missing.
func (c *Cells) none(kind CellKind, n int) {
	for range n {
		c.Valid = append(c.Valid, false)
		switch kind {
		case IntCells:
			c.Ints = append(c.Ints, 0)
		case FloatCells:
			c.Floats = append(c.Floats, math.NaN())
		case TextCells:
			c.Texts = append(c.Texts, nil)
		}
	}
}

// A CellTable is a table of another program.
type CellTable interface {
	// Columns describes the columns.
	Columns() []CellColumn

	// Read passes the rows on, some at a time, with the cells of the wanted columns. first is the number of the first of n rows,
	// from 1. A part that cannot be decoded is passed to bad with the number of its first row. An error of each ends it.
	Read(want []int, each func(first int64, n int, cells []Cells) error, bad func(row int64, err error)) error
}

// cellRows is how many rows are passed on at a time.
const cellRows = 4096

// cellMemory bounds a page, or a buffer, of a table of another program: writers make them of 1 MiB, about.
const cellMemory = 256 << 20

// cellColumns bounds the columns of a table of another program.
const cellColumns = 4096

// stopped is an error of the caller, which no part of a table is to blame for.
type stopped struct{ error }

// attempt calls decode, and makes a panic of a library an error. The second error is the caller's.
func attempt(decode func() error) (damage, failed error) {
	defer func() {
		if r := recover(); r != nil {
			damage = wire.Recovered(r)
		}
	}()
	err := decode()
	var s stopped
	if errors.As(err, &s) {
		return nil, s.error
	}
	if err != nil && strings.Contains(err.Error(), "runtime error") { // a panic that a library has caught
		err = errContradiction
	}
	return err, nil
}

// errContradiction says in words what the panic of a library means.
var errContradiction = errors.New("it cannot be decoded, because its parts contradict each other; copy it again")

// bytesAt reads exactly n bytes.
func bytesAt(r io.ReaderAt, at, n int64) ([]byte, error) {
	out := make([]byte, n)
	if _, err := r.ReadAt(out, at); err != nil {
		return nil, fmt.Errorf("%d bytes at %d cannot be read", n, at)
	}
	return out, nil
}
