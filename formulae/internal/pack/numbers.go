package pack

import (
	"math/bits"
	"slices"

	"tracekit/codec"
	"tracekit/formulae/internal/coder"
)

// A numberModel codes the numbers of a column.
type numberModel interface {
	begin(column uint32)
	number(c *coder.Coder, v uint64) uint64
}

// columnSlots is the logarithm of the largest number of chances for each context.
const columnSlots = 14

// A differenceModel codes a number as files before version 11 have it: as the zigzag difference to the one above, in three contexts: the
// column, the number above, the lengths of the last two differences.
type differenceModel struct {
	numbers *coder.Numbers
	column  uint32
	last    uint64    // number above
	length  [2]uint32 // of the last differences in bits, newest first
}

func (m *differenceModel) begin(column uint32) { m.column, m.last, m.length = column, 0, [2]uint32{} }

func (m *differenceModel) number(c *coder.Coder, v uint64) uint64 {
	d := m.numbers.Code(c, codec.Zigzag(v-m.last), [coder.Contexts]uint32{
		m.column << 8, coder.Hash(m.column, m.length[0]<<8|m.length[1]|1<<16), coder.Hash(m.column, uint32(m.last)|1<<31)})
	m.last += codec.Unzigzag(d)
	m.length = [2]uint32{uint32(bits.Len64(d)), m.length[0]}
	return m.last
}

// A guessModel codes a number as the guess that is right, or as the zigzag difference to the one above. Guessed are the one above, and with
// the growth of that; the one two above, and with its growth; what followed the one above last, in the column, and the two above.
type guessModel struct {
	guesses *coder.Figures
	rest    *coder.Figures
	seen    []uint64 // by hash: what followed

	column  uint32
	above   [4]uint64 // newest first
	length  [2]uint32 // of the last differences in bits, newest first
	history uint32    // how the last numbers were told, newest last
}

const (
	guesses  = 6
	told     = 7 // none is right: the difference follows
	seenBits = 12
)

func newGuessModel(t *coder.Tables) *guessModel {
	return &guessModel{guesses: coder.NewFigures(t, columnSlots, 2), rest: coder.NewFigures(t, columnSlots, 2),
		seen: make([]uint64, 1<<seenBits)}
}

func (m *guessModel) begin(column uint32) {
	m.column, m.above, m.length, m.history = column+1, [4]uint64{}, [2]uint32{}, 0
}

func (m *guessModel) number(c *coder.Coder, v uint64) uint64 {
	a, h, col := &m.above, m.history, m.column
	last := coder.Hash(col, fold(a[0]))
	slots := [...]*uint64{m.slot(last), m.slot(coder.Hash(last, fold(a[1])))}
	g := [guesses]uint64{a[0], 2*a[0] - a[1], a[1], 2*a[1] - a[3], *slots[0], *slots[1]}
	how := uint32(told)
	if i := slices.Index(g[:], v); i >= 0 {
		how = uint32(i)
	}
	equal := uint32(0) // which guesses are equal to one before them
	for i := range g {
		equal |= coder.Bit(slices.Index(g[:], g[i]) < i) << i
	}
	how = m.guesses.Octet(c, how, &[coder.Experts]uint32{coder.Hash(1, h&7), coder.Hash(2, h&511), coder.Hash(3, h&0x7fff),
		coder.Hash(4, equal<<3|h&7), coder.Hash(col, 1), coder.Hash(col, h&63|1<<8), coder.Hash(col, equal<<9|h&511|1<<16), last}, equal)
	if how < guesses {
		v = g[how]
	} else {
		d := m.rest.Code(c, codec.Zigzag(v-a[0]), &[coder.Experts]uint32{coder.Hash(1, m.length[0]), coder.Hash(2, h&511),
			coder.Hash(3, fold(a[0])), coder.Hash(col, 1), coder.Hash(col, m.length[0]|1<<8), coder.Hash(col, h&511|1<<16),
			coder.Hash(col, m.length[0]<<8|m.length[1]|1<<20), last}, 0)
		v = a[0] + codec.Unzigzag(d)
		m.length = [2]uint32{uint32(bits.Len64(d)), m.length[0]}
	}
	for _, s := range slots {
		*s = v
	}
	*a, m.history = [4]uint64{v, a[0], a[1], a[2]}, h<<3|how
	return v
}

func (m *guessModel) slot(hash uint32) *uint64 { return &m.seen[hash*0x9E3779B1>>(32-seenBits)] }

// fold makes a hash of a number.
func fold(v uint64) uint32 { return coder.Hash(uint32(v), uint32(v>>32)) }
