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
	"math/bits"

	"tracekit/codec"
	"tracekit/formulae/internal/coder"
)

// ErrDamaged says that the content of a block contradicts itself although its checksum is
// right: the file was made by a faulty or a malicious program.
var ErrDamaged = errors.New("the content of the section is not valid")

// Columns code numbers column by column, in either direction: each as the zigzag difference to the one above, in three contexts: the
// column, the number above, the lengths of the last two differences. After damage they return zeros and empty lists; who uses them looks at
// Damaged at the end.
type Columns struct {
	Damaged  bool
	decoding bool
	coder    coder.Coder
	model    *coder.Numbers
	plain    *codec.Coder // instead of a model: differences are varints
	column   uint32
	last     uint64    // number above
	length   [2]uint32 // of the last differences in bits, newest first
	limit    uint64    // decoding: how many more things lists may have
	listed   uint64    // encoding: how many things lists have
}

const columnSlots = 14

// NewColumns returns columns that are written.
func NewColumns(t *coder.Tables) *Columns {
	c := &Columns{model: coder.NewNumbers(t, columnSlots, false), limit: math.MaxUint64}
	c.coder.StartEncoding()
	return c
}

// PerByte is the largest number of things that lists in a block may have for each byte of it: a small file cannot ask for much memory.
const PerByte = 64

// OpenColumns returns columns that are read from a block.
func OpenColumns(t *coder.Tables, block []byte) *Columns {
	c := &Columns{decoding: true, model: coder.NewNumbers(t, columnSlots, false), limit: bound(block)}
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
func (c *Columns) Begin(column uint32) { c.column, c.last, c.length = column, 0, [2]uint32{} }

// Number codes the next number of the column.
func (c *Columns) Number(v uint64) uint64 {
	d := codec.Zigzag(v - c.last)
	if c.plain != nil {
		d = c.plain.Uvarint(d)
		c.Damaged = c.Damaged || c.plain.Err() != nil
	} else {
		d = c.model.Code(&c.coder, d, [coder.Contexts]uint32{
			c.column << 8, coder.Hash(c.column, c.length[0]<<8|c.length[1]|1<<16), coder.Hash(c.column, uint32(c.last)|1<<31)})
		if c.decoding && c.coder.Overrun() {
			c.Damaged = true
		}
	}
	c.last += codec.Unzigzag(d)
	c.length = [2]uint32{uint32(bits.Len64(d)), c.length[0]}
	return c.last
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
