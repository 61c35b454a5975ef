package tkf

import (
	"math/bits"

	"tracekit/codec"
	"tracekit/formulae/internal/coder"
)

// A valueModel codes the values that follow symbols: what belongs to no rule (docs/internals/TKF.md,
// Values): counters, attributes, what open symbols leave out. A value is
// predicted to be the last one at the same place of the same symbol, or to grow by as much
// as it did last time.
type valueModel struct {
	guesses *coder.Numbers
	values  *coder.Numbers
	places  [][]place // by symbol and position
}

// A place remembers the values at one position after one symbol.
type place struct {
	last, growth uint64
	guess        uint32 // how the last value was coded
	length       uint32 // of the last difference, in bits
}

// How a value is coded.
const (
	guessSame = iota
	guessGrowth
	guessNothing
)

const valueSlots = 12

func newValueModel(t *coder.Tables) *valueModel {
	return &valueModel{guesses: coder.NewNumbers(t, valueSlots, false), values: coder.NewNumbers(t, valueSlots, false)}
}

// code codes the values of an event in place.
func (m *valueModel) code(c *coder.Coder, symbol uint32, values []uint64) {
	for int(symbol) >= len(m.places) {
		m.places = append(m.places, nil)
	}
	for len(m.places[symbol]) < len(values) {
		m.places[symbol] = append(m.places[symbol], place{})
	}
	for i, p := range m.places[symbol][:len(values)] {
		values[i] = m.one(c, values[i], &p, coder.Hash(symbol, uint32(i)))
		m.places[symbol][i] = p
	}
}

// one codes a value at a place, which is told from others by a hash: first how it is guessed,
// then, if it is not, the zigzag difference to the last one.
func (m *valueModel) one(c *coder.Coder, v uint64, p *place, at uint32) uint64 {
	guess := uint64(guessNothing)
	switch v - p.last {
	case 0:
		guess = guessSame
	case p.growth:
		guess = guessGrowth
	}
	guess = m.guesses.Code(c, guess, [coder.Contexts]uint32{1, coder.Hash(at, p.guess), coder.Hash(at, p.length<<8)})
	switch guess {
	case guessSame:
		v = p.last
	case guessGrowth:
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
