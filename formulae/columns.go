package formulae

import (
	"math"
	"math/bits"

	"tracekit/trace"
)

// A columnCoder codes tables of numbers column by column (docs/TKF.md, Columns and packing),
// in either direction: each number as the zigzag difference to the one above, in the contexts
// of the column, the number above and the lengths of the last two differences. After damage
// it returns zeros and empty lists; who uses it looks at damaged at the end.
type columnCoder struct {
	coder   coder
	model   *numbers
	column  uint32
	last    uint64    // number above
	length  [2]uint32 // of the last differences in bits, newest first
	limit   uint64    // decoding: how many more things lists may have
	listed  uint64    // encoding: how many things lists have
	damaged bool
	plain   bool // numbers are uvarints, see uvarint
}

const columnSlots = 14

func newColumnCoder(t *tables) *columnCoder {
	c := &columnCoder{model: newNumbers(t, columnSlots, false), limit: math.MaxUint64}
	c.coder.startEncoding()
	return c
}

// perByte is the largest number of things that lists in a block may have for each byte of
// it, so that a small file cannot ask for much memory.
const perByte = 64

// decode makes the coder read a block.
func (c *columnCoder) decode(block []byte) {
	c.coder.startDecoding(block)
	c.limit = uint64(len(block)+8) * perByte
}

// finish returns the block, filled up so that it has enough bytes for its lists.
func (c *columnCoder) finish() []byte {
	block := c.coder.finish()
	for uint64(len(block)+8)*perByte < c.listed {
		block = append(block, 0)
	}
	return block
}

// begin begins a column.
func (c *columnCoder) begin(column uint32) { c.column, c.last, c.length = column, 0, [2]uint32{} }

// number codes the next number of the column.
func (c *columnCoder) number(v uint64) uint64 {
	if c.plain {
		return c.uvarint(v)
	}
	d := c.model.code(&c.coder, zigzag(int64(v-c.last)), [contexts]uint32{
		c.column << 8, hash32(c.column, c.length[0]<<8|c.length[1]|1<<16), hash32(c.column, uint32(c.last)|1<<31)})
	c.last += uint64(unzigzag(d))
	c.length = [2]uint32{uint32(bits.Len64(d)), c.length[0]}
	if c.coder.decoding && c.coder.overrun() {
		c.damaged = true
	}
	return c.last
}

// single codes a number that has nothing to do with others.
func (c *columnCoder) single(column uint32, v uint64) uint64 {
	c.begin(column)
	return c.number(v)
}

// count codes the length of a list.
func (c *columnCoder) count(column uint32, n int) int {
	c.begin(column)
	return c.bounded(n)
}

// bounded codes the length of a list in the current column. When decoding, an impossible
// one counts as damage.
func (c *columnCoder) bounded(n int) int {
	v := c.number(uint64(n))
	if v > c.limit || c.damaged {
		c.damaged = true
		return 0
	}
	c.listed += v
	if c.coder.decoding {
		c.limit -= v
	}
	return int(v)
}

// Columns of the dictionary and the classes.
const (
	columnEntries = iota + 1
	columnLists
	columnListLength
	columnListBytes
	columnClasses
	columnSymbols
	columnRest
	columnExceptions
	columnException
	columnSet
	columnBoxes
	columnStart
	columnDims
	columnStep
	columnCount
	columnField // and following
)

// dictionary codes the lists and then the entries, field by field.
func (c *columnCoder) dictionary(d *dictionary) {
	if n := c.count(columnLists, len(d.lists)); c.coder.decoding {
		d.lists = make([]string, max(n, 1))
	}
	for i := 1; i < len(d.lists) && !c.damaged; i++ {
		d.lists[i] = c.bytes(d.lists[i])
	}
	if n := c.count(columnEntries, len(d.entries)); c.coder.decoding {
		d.entries = make([]entry, n)
	}
	for i, f := range entryFields() {
		c.begin(columnField + uint32(i))
		for j := range d.entries {
			if c.damaged {
				return
			}
			f(&d.entries[j], c)
		}
	}
	for _, e := range d.entries {
		if uint64(e.list) >= uint64(len(d.lists)) || uint64(e.attrs) >= uint64(len(d.lists)) {
			c.damaged = true
		}
	}
}

// entryFields returns the coders of the fields of an entry.
func entryFields() []func(*entry, *columnCoder) {
	return []func(*entry, *columnCoder){
		func(e *entry, c *columnCoder) { e.kind = trace.Kind(c.number(uint64(e.kind))) },
		func(e *entry, c *columnCoder) { e.op = trace.CollectiveOp(c.number(uint64(e.op))) },
		func(e *entry, c *columnCoder) { e.open = c.flag(e.open) },
		func(e *entry, c *columnCoder) { e.relative = c.flag(e.relative) },
		func(e *entry, c *columnCoder) { e.how = requestCode(c.number(uint64(e.how))) },
		func(e *entry, c *columnCoder) { e.ref = uint32(c.number(uint64(e.ref))) },
		func(e *entry, c *columnCoder) { e.peer = uint32(c.number(uint64(e.peer))) },
		func(e *entry, c *columnCoder) { e.tag = uint32(c.number(uint64(e.tag))) },
		func(e *entry, c *columnCoder) { e.list = uint32(c.number(uint64(e.list))) },
		func(e *entry, c *columnCoder) { e.attrs = uint32(c.number(uint64(e.attrs))) },
		func(e *entry, c *columnCoder) { e.size = c.number(e.size) },
		func(e *entry, c *columnCoder) { e.received = c.number(e.received) },
		func(e *entry, c *columnCoder) { e.request = c.number(e.request) },
	}
}

func (c *columnCoder) flag(b bool) bool {
	v := uint64(0)
	if b {
		v = 1
	}
	return c.number(v)&1 != 0
}

// bytes codes a list of the dictionary.
func (c *columnCoder) bytes(s string) string {
	b := []byte(s)
	if n := c.count(columnListLength, len(b)); c.coder.decoding {
		b = make([]byte, n)
	}
	c.begin(columnListBytes)
	for i := range b {
		b[i] = byte(c.number(uint64(b[i])))
	}
	return string(b)
}
