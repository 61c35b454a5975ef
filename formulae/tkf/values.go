package tkf

import (
	"math/bits"

	"tracekit/codec"
	"tracekit/formulae/internal/coder"
)

// A valueCoder codes the values that follow a symbol in place: counters, attributes, what open
// symbols leave out (docs/internals/TKF.md, Values).
type valueCoder interface {
	code(c *coder.Coder, at valueContext, values []uint64)
}

// newValueCoder returns the value coder of files of a version.
func newValueCoder(t *coder.Tables, version byte) valueCoder {
	if version < versionValues {
		return newGrowthModel(t)
	}
	return newValueModel(t)
}

// A valueContext is what is known of the event that the values belong to.
type valueContext struct {
	symbol uint32
	recent [2]uint32 // hashes of the last symbols, this one included: 11 and 4 of them
	step   uint64    // of time to the event; 0 if it is not known
}

// A valueModel codes a value as the guess that comes true, or as the difference to what comes
// closest.
type valueModel struct {
	guesses *coder.Numbers
	rest    *coder.Numbers
	places  [][]place // by symbol and position
	seen    []uint64  // by hash of a context: the value that followed it last
}

// A place remembers the values at one position after one symbol.
type place struct {
	last, growth uint64
	grain        uint64       // greatest common divisor of the values that nothing predicted; 0: of none
	cost         [bases]int32 // of the differences to each base, in bits, lately
	history      uint32       // how the last values were coded
	length       uint32       // of the last difference, in bits
}

// The guesses. Several may be equal: the first counts.
const (
	guessLast    = iota // the value at this place before
	guessGrowth         // it grows as before
	guessFollows        // what followed the last value before
	guessSimilar        // the one after the same 4 symbols
	guessSame           // the one after the same 11 symbols
	guessBeside         // the one after the same value before it in the event
	guesses
	guessGrains = guesses // none: the difference follows, as a multiple of the grain
	guessNone   = 7       // none: the difference follows
)

// bases are what a difference may be to: zero, and the guesses last, growth, similar and same.
const bases = 5

// Sizes of the model: chances of a context, values that are seen, bits below the three upper
// ones that are modelled.
const (
	valueSlots = 16
	seenBits   = 14
	valueDepth = 2
	headStart  = 2 << 8
)

func newValueModel(t *coder.Tables) *valueModel {
	m := &valueModel{guesses: coder.NewNumbers(t, valueSlots, false), rest: coder.NewNumbers(t, valueSlots, false),
		seen: make([]uint64, 1<<seenBits)}
	m.rest.Depth = valueDepth
	return m
}

// code codes the values of an event in place. What comes before the first one is the step of time.
func (m *valueModel) code(c *coder.Coder, at valueContext, values []uint64) {
	for int(at.symbol) >= len(m.places) {
		m.places = append(m.places, nil)
	}
	for len(m.places[at.symbol]) < len(values) {
		m.places[at.symbol] = append(m.places[at.symbol], place{})
	}
	before := at.step
	for i := range values {
		values[i] = m.one(c, values[i], &m.places[at.symbol][i], at, coder.Hash(at.symbol, uint32(i)), before)
		before = values[i]
	}
}

// one codes a value at a place, which is told from others by a hash.
func (m *valueModel) one(c *coder.Coder, v uint64, p *place, at valueContext, here uint32, before uint64) uint64 {
	similar := coder.Hash(here, at.recent[1])
	slots := [...]*uint64{m.slot(coder.Hash(here, fold(p.last))), m.slot(similar + 1), m.slot(coder.Hash(here, at.recent[0]) + 2),
		m.slot(coder.Hash(here, fold(before)) + 3)}
	g := [guesses]uint64{p.last, p.last + p.growth, *slots[0], *slots[1], *slots[2], *slots[3]}
	from := [bases]uint64{0, g[guessLast], g[guessGrowth], g[guessSimilar], g[guessSame]}
	base := p.base()
	how, d := p.tell(v, &g, from[base], base)
	how = min(guessNone, m.guesses.Code(c, how, [coder.Contexts]uint32{
		coder.Hash(here, p.history),
		coder.Hash(similar, p.history&7),
		coder.Hash(coder.Hash(here, agreement(&g)), p.history&63),
	}))
	if how < guesses {
		v = g[how]
	} else {
		d = m.rest.Code(c, d, [coder.Contexts]uint32{
			coder.Hash(similar, base),
			coder.Hash(here, p.length<<20|magnitude(from[base])<<3|base),
			coder.Hash(here, magnitude(before)<<3|base),
		})
		p.length = uint32(bits.Len64(d))
		v = p.value(d, how, from[base], base)
	}
	p.learn(v, uint32(how), &from)
	for _, s := range slots {
		*s = v
	}
	return v
}

// slot returns the value that was seen in a context.
func (m *valueModel) slot(hash uint32) *uint64 {
	return &m.seen[hash*0x9E3779B1>>(32-seenBits)]
}

// fold makes a hash of a value.
func fold(v uint64) uint32 { return coder.Hash(uint32(v), uint32(v>>32)) }

// magnitude returns the length of a value and the four bits below the leading one.
func magnitude(v uint64) uint32 {
	n := uint32(bits.Len64(v))
	if n < 5 {
		return uint32(v)
	}
	return n<<4 | uint32(v>>(n-5))&15
}

// agreement says which guesses are equal to one before them.
func agreement(g *[guesses]uint64) (out uint32) {
	for i := range g {
		for j := range i {
			if g[i] == g[j] {
				out |= 1 << i
				break
			}
		}
	}
	return out
}

// base returns the base whose differences were shortest lately.
func (p *place) base() (best uint32) {
	least := p.cost[0] - headStart
	for i, c := range p.cost {
		if c < least {
			best, least = uint32(i), c
		}
	}
	return best
}

// tell returns how a value is coded, and its difference to the base.
func (p *place) tell(v uint64, g *[guesses]uint64, from uint64, base uint32) (how, d uint64) {
	for i, x := range g {
		if x == v {
			return uint64(i), 0
		}
	}
	if d = v - from; p.grain > 1 && int64(d)%int64(p.grain) == 0 {
		return guessGrains, number(uint64(int64(d)/int64(p.grain)), base)
	}
	return guessNone, number(d, base)
}

// value returns the value at a difference.
func (p *place) value(d, how, from uint64, base uint32) uint64 {
	if base != 0 {
		d = codec.Unzigzag(d)
	}
	if how == guessGrains {
		d *= p.grain
	}
	return from + d
}

// number returns a difference as an unsigned number that is small if the difference is.
func number(d uint64, base uint32) uint64 {
	if base == 0 {
		return d
	}
	return codec.Zigzag(d)
}

// learn adds a value.
func (p *place) learn(v uint64, how uint32, from *[bases]uint64) {
	for i, x := range from {
		n := bits.Len64(number(v-x, uint32(i)))
		p.cost[i] += (int32(n<<8) - p.cost[i]) >> 3
	}
	if how == guessNone {
		p.grain = divisor(p.grain, v)
	}
	p.growth, p.last, p.history = v-p.last, v, p.history<<3|how
}

// divisor returns the greatest common divisor of two numbers, below 2^62.
func divisor(a, b uint64) uint64 {
	if a == 1 {
		return a
	}
	for b != 0 {
		a, b = b, a%b
	}
	if a >= 1<<62 {
		return 1
	}
	return a
}
