package tkf

import (
	"math/bits"

	"tracekit/codec"
	"tracekit/formulae/internal/coder"
)

// A growthModel codes values as files before version 7 have them: a value is predicted to be
// the last one at the same place of the same symbol, or to grow by as much as it did last time.
type growthModel struct {
	guesses *coder.Numbers
	values  *coder.Numbers
	places  [][]growthPlace // by symbol and position
}

// A growthPlace remembers the values at one position after one symbol.
type growthPlace struct {
	last, growth uint64
	guess        uint32 // how the last value was coded
	length       uint32 // of the last difference, in bits
}

// How a value is coded.
const (
	oldSame = iota
	oldGrowth
	oldNothing
)

const growthSlots = 12

func newGrowthModel(t *coder.Tables) *growthModel {
	return &growthModel{guesses: coder.NewNumbers(t, growthSlots, false), values: coder.NewNumbers(t, growthSlots, false)}
}

// code codes the values of an event in place.
func (m *growthModel) code(c *coder.Coder, at *valueContext, values []uint64) {
	symbol := at.symbol
	for int(symbol) >= len(m.places) {
		m.places = append(m.places, nil)
	}
	for len(m.places[symbol]) < len(values) {
		m.places[symbol] = append(m.places[symbol], growthPlace{})
	}
	for i, p := range m.places[symbol][:len(values)] {
		values[i] = m.one(c, values[i], &p, coder.Hash(symbol, uint32(i)))
		m.places[symbol][i] = p
	}
}

// one codes a value at a place, which is told from others by a hash: first how it is guessed,
// then, if it is not, the zigzag difference to the last one.
func (m *growthModel) one(c *coder.Coder, v uint64, p *growthPlace, at uint32) uint64 {
	guess := uint64(oldNothing)
	switch v - p.last {
	case 0:
		guess = oldSame
	case p.growth:
		guess = oldGrowth
	}
	guess = m.guesses.Code(c, guess, [coder.Contexts]uint32{1, coder.Hash(at, p.guess), coder.Hash(at, p.length<<8)})
	switch guess {
	case oldSame:
		v = p.last
	case oldGrowth:
		v = p.last + p.growth
	default:
		d := codec.Zigzag(v - p.last)
		d = m.values.Code(c, d, [coder.Contexts]uint32{at, coder.Hash(at, p.length), coder.Hash(p.length, 3)})
		p.length = uint32(bits.Len64(d))
		v = p.last + codec.Unzigzag(d)
		p.growth = v - p.last
	}
	p.last, p.guess = v, uint32(guess)
	return v
}
