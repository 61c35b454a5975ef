package pack

import (
	"slices"

	"tracekit/formulae/internal/coder"
)

// A packer codes the values of one block.
type packer struct {
	*Columns
	tables *coder.Tables
	text   *textModel // made for the first string
	number uint32     // of columns so far
	depth  int
}

// next begins the next column, unless it has no rows.
func (p *packer) next(rows int) bool {
	if rows == 0 || p.Damaged {
		return false
	}
	p.number++
	p.Begin(p.number)
	return true
}

// deeper reports whether a type may be part of itself once more. Formulae within formulae
// are as deep as the data say.
func (p *packer) deeper() bool {
	const most = 100
	if p.depth++; p.depth > most {
		p.Damaged = true
	}
	return !p.Damaged
}

// Values codes a value without texts among other columns, in the base layout.
func Values[T any](c *Columns, v *T, column Column[T]) {
	column.values(&packer{Columns: c}, []*T{v}, nil)
}

// Pack returns a value as a block, in the base layout.
func Pack[T any](t *coder.Tables, v *T, c Column[T]) []byte {
	p := &packer{Columns: NewColumns(t), tables: t}
	c.values(p, []*T{v}, nil)
	return p.Finish()
}

// Unpack fills in what Pack was given.
func Unpack[T any](t *coder.Tables, block []byte, v *T, c Column[T]) error {
	p := &packer{Columns: OpenColumns(t, block), tables: t}
	c.values(p, []*T{v}, nil)
	return p.Err()
}

// PackOpen returns a value as a block that any later version of the column reads. An earlier one reads it as far as it knows the fields: if
// it has others than the base layout, the block begins with its schema.
func PackOpen[T any](t *coder.Tables, v *T, c Column[T]) []byte {
	p := &packer{Columns: NewColumns(t), tables: t}
	all, base := c.schema(false), c.schema(true)
	var s *Schema
	if p.Single(0, uint64(coder.Bit(!all.equal(base)))) != 0 {
		p.describe(&all)
		s = &all
	}
	c.values(p, []*T{v}, s)
	return p.Finish()
}

// UnpackOpen fills in what PackOpen was given. Fields that the block does not have keep their
// values; those that the column does not have are passed over.
func UnpackOpen[T any](t *coder.Tables, block []byte, v *T, c Column[T]) error {
	p := &packer{Columns: OpenColumns(t, block), tables: t}
	var s *Schema
	if p.Single(0, 0) != 0 {
		s = &Schema{}
		p.describe(s)
	}
	c.values(p, []*T{v}, s)
	return p.Err()
}

// How a short block is coded. The first is nearly always shorter; the second has a length
// that can be told beforehand.
const (
	codedPacked = iota
	codedPlain
)

// PackShort returns a value without texts as a block: packed or plain, whichever is shorter.
func PackShort[T any](t *coder.Tables, v *T, c Column[T]) []byte {
	packed, plain := Pack(t, v, c), PackPlain(v, c)
	if len(plain) < len(packed) {
		return slices.Insert(plain, 0, codedPlain)
	}
	return slices.Insert(packed, 0, codedPacked)
}

// UnpackShort fills in what PackShort was given.
func UnpackShort[T any](t *coder.Tables, block []byte, v *T, c Column[T]) error {
	if len(block) == 0 || block[0] > codedPlain {
		return ErrDamaged
	}
	if block[0] == codedPacked {
		return Unpack(t, block[1:], v, c)
	}
	plain := openPlain(block[1:])
	Values(plain, v, c)
	return plain.Err()
}

// PackPlain returns a value without texts as columns of differences, zigzag, as uvarints.
func PackPlain[T any](v *T, c Column[T]) []byte {
	plain := newPlain()
	Values(plain, v, c)
	return plain.Finish()
}

// A textModel codes strings (names, properties, messages of findings) byte by byte in the
// contexts of the last one, two and three bytes.
type textModel struct {
	mix  *coder.Mixer
	last uint32 // the last four bytes
}

// textSlots is the logarithm of the largest number of chances for each context.
const textSlots = 16

func newTextModel(t *coder.Tables) *textModel {
	return &textModel{mix: coder.NewMixer(t, textSlots, 256)}
}

// byte codes a byte, highest bit first.
func (m *textModel) byte(c *coder.Coder, b byte) byte {
	l := m.last
	m.mix.Use()
	base := [coder.Contexts]uint32{coder.Hash(l&0xFF, 1), coder.Hash(l&0xFFFF, 2), coder.Hash(l&0xFFFFFF, 3)}
	node := uint32(1)
	at := m.mix.Seek(&base, node)
	for i := 7; i >= 0; i-- {
		if i == 3 { // a line holds the decisions about half a byte
			at = m.mix.Seek(&base, node)
		}
		place := node
		if i < 4 {
			place = 1<<(3-i) | node&(1<<(3-i)-1)
		}
		node = node<<1 | m.mix.Bit(c, &at, place, node, uint32(b)>>i&1)
	}
	m.last = l<<8 | node&0xFF
	return byte(node)
}

// string codes a string: its length in the current column, then its bytes.
func (p *packer) string(s string) string {
	if p.text == nil {
		p.text = newTextModel(p.tables)
	}
	b := []byte(s)
	n := p.bounded(len(b))
	if p.decoding {
		b = make([]byte, n)
	}
	for i := range b {
		b[i] = p.text.byte(&p.coder, b[i])
	}
	p.text.byte(&p.coder, 0) // so that the next string begins in a context of its own
	return string(b)
}
