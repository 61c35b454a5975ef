package pack

import (
	"slices"

	"tracekit/formulae/internal/coder"
)

// A packer codes the values of one block.
type packer struct {
	*Columns
	form   Form
	text   textModel // made for the first string
	number uint32    // of columns so far
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
func Pack[T any](f Form, v *T, c Column[T]) []byte {
	p := &packer{Columns: NewColumns(f), form: f}
	c.values(p, []*T{v}, nil)
	return p.Finish()
}

// Unpack fills in what Pack was given.
func Unpack[T any](f Form, block []byte, v *T, c Column[T]) error {
	p := &packer{Columns: OpenColumns(f, block), form: f}
	c.values(p, []*T{v}, nil)
	return p.Err()
}

// PackOpen returns a value as a block that any later version of the column reads. An earlier one reads it as far as it knows the fields: if
// it has others than the base layout, the block begins with its schema.
func PackOpen[T any](f Form, v *T, c Column[T]) []byte {
	p := &packer{Columns: NewColumns(f), form: f}
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
func UnpackOpen[T any](f Form, block []byte, v *T, c Column[T]) error {
	p := &packer{Columns: OpenColumns(f, block), form: f}
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
func PackShort[T any](f Form, v *T, c Column[T]) []byte {
	packed, plain := Pack(f, v, c), PackPlain(v, c)
	if len(plain) < len(packed) {
		return slices.Insert(plain, 0, codedPlain)
	}
	return slices.Insert(packed, 0, codedPacked)
}

// UnpackShort fills in what PackShort was given.
func UnpackShort[T any](f Form, block []byte, v *T, c Column[T]) error {
	if len(block) == 0 || block[0] > codedPlain {
		return ErrDamaged
	}
	if block[0] == codedPacked {
		return Unpack(f, block[1:], v, c)
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

// string codes a string: its length in the current column, then its bytes.
func (p *packer) string(s string) string {
	if p.text == nil {
		p.text = p.form.texts()
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
