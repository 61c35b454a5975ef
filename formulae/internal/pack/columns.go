// Package pack codes values as columns of numbers and texts: a record's fields one after the
// other, each for all rows at once, so that like stands beside like (docs/internals/TKF.md, Columns and
// packing).
//
// How values of a type are coded is said once, by a Column, for both directions. A record is told field by field; which fields there are is
// a Schema. A block may begin with its own, so that a reader passes over fields that it does not know.
package pack

import (
	"errors"
	"math"

	"tracekit/codec"
	"tracekit/formulae/internal/coder"
)

// ErrDamaged says that the content of a block contradicts itself although its checksum is
// right: the file was made by a faulty or a malicious program.
var ErrDamaged = errors.New("the content of the section is not valid")

// A Form says how blocks are coded.
type Form struct {
	Tables *coder.Tables
	Early  bool // as files before version 11 have them
}

// Columns code numbers column by column, in either direction. After damage they return zeros and empty lists; who uses them looks at
// Damaged at the end.
type Columns struct {
	Damaged  bool
	decoding bool
	coder    coder.Coder
	numbers  numberModel
	plain    *codec.Coder // instead of a model: differences are varints
	last     uint64       // number above, if they are plain
	limit    uint64       // decoding: how many more things lists may have
	listed   uint64       // encoding: how many things lists have
}

// NewColumns returns columns that are written.
func NewColumns(f Form) *Columns {
	c := &Columns{numbers: f.numbers(), limit: math.MaxUint64}
	c.coder.StartEncoding()
	return c
}

func (f Form) numbers() numberModel {
	if f.Early {
		return &differenceModel{numbers: coder.NewNumbers(f.Tables, columnSlots, false)}
	}
	return newGuessModel(f.Tables)
}

// PerByte is the largest number of things that lists in a block may have for each byte of it: a small file cannot ask for much memory.
const PerByte = 64

// OpenColumns returns columns that are read from a block.
func OpenColumns(f Form, block []byte) *Columns {
	c := &Columns{decoding: true, numbers: f.numbers(), limit: bound(block)}
	c.coder.StartDecoding(block)
	return c
}

func newPlain() *Columns { return &Columns{plain: codec.ToMemory(nil), limit: math.MaxUint64} }

func openPlain(block []byte) *Columns {
	return &Columns{decoding: true, plain: codec.FromMemory(block), limit: bound(block)}
}

func bound(block []byte) uint64 { return uint64(len(block)+8) * PerByte }

// Decoding reports whether the columns are read.
func (c *Columns) Decoding() bool { return c.decoding }

// Err returns ErrDamaged after damage.
func (c *Columns) Err() error {
	if c.Damaged {
		return ErrDamaged
	}
	return nil
}

// Finish returns the block, filled up so that it has enough bytes for its lists.
func (c *Columns) Finish() []byte {
	if c.plain != nil {
		return c.plain.Data()
	}
	block := c.coder.Finish()
	for bound(block) < c.listed {
		block = append(block, 0)
	}
	return block
}

// Begin begins a column.
func (c *Columns) Begin(column uint32) {
	if c.last = 0; c.plain == nil {
		c.numbers.begin(column)
	}
}

// Number codes the next number of the column.
func (c *Columns) Number(v uint64) uint64 {
	if c.plain != nil {
		c.last += codec.Unzigzag(c.plain.Uvarint(codec.Zigzag(v - c.last)))
		c.Damaged = c.Damaged || c.plain.Err() != nil
		return c.last
	}
	v = c.numbers.number(&c.coder, v)
	c.Damaged = c.Damaged || c.decoding && c.coder.Overrun()
	return v
}

// Single codes a number that has nothing to do with others.
func (c *Columns) Single(column uint32, v uint64) uint64 {
	c.Begin(column)
	return c.Number(v)
}

// Count codes the length of a list.
func (c *Columns) Count(column uint32, n int) int {
	c.Begin(column)
	return c.bounded(n)
}

// bounded codes the length of a list in the current column. When decoding, an impossible
// one counts as damage.
func (c *Columns) bounded(n int) int {
	v := c.Number(uint64(n))
	if v > c.limit || c.Damaged {
		c.Damaged = true
		return 0
	}
	c.listed += v
	if c.decoding {
		c.limit -= v
	}
	return int(v)
}

// Flag codes a truth value.
func (c *Columns) Flag(b bool) bool { return c.Number(uint64(coder.Bit(b)))&1 != 0 }
