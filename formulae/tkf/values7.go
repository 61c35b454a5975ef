package tkf

import (
	"math/bits"

	"tracekit/codec"
	"tracekit/formulae/internal/coder"
)

// A guessModel codes values as versions 7 to 9 have them: as the guess that comes true, or as the difference to what comes closest.
type guessModel struct {
	guesses *coder.Numbers
	rest    *coder.Numbers
	places  [][]guessPlace // by symbol and position
	seen    []uint64       // by hash of a context: the value that followed it last
}

// A guessPlace remembers the values at one position after one symbol.
type guessPlace struct {
	last, growth uint64
	grain        uint64            // greatest common divisor of the values that nothing predicted; 0: of none
	cost         [guessBases]int32 // of the differences to each base, in bits, lately
	history      uint32            // how the last values were coded
	length       uint32            // of the last difference, in bits
}

// guessBases are what a difference may be to: zero, and the guesses last, growth, similar and same.
const guessBases = 5

// How a value is coded that no guess tells.
const (
	guessGrains = guesses // the difference follows, as a multiple of the grain
	guessNone   = 7       // the difference follows
)

const (
	guessSlots = 16
	guessBits  = 14
)

func newGuessModel(t *coder.Tables) *guessModel {
	m := &guessModel{guesses: coder.NewNumbers(t, guessSlots, false), rest: coder.NewNumbers(t, guessSlots, false),
		seen: make([]uint64, 1<<guessBits)}
	m.rest.Depth = 2
	return m
}

// code codes the values of an event in place. What comes before the first one is the step of time.
func (m *guessModel) code(c *coder.Coder, at *valueContext, values []uint64) {
	for int(at.symbol) >= len(m.places) {
		m.places = append(m.places, nil)
	}
	for len(m.places[at.symbol]) < len(values) {
		m.places[at.symbol] = append(m.places[at.symbol], guessPlace{})
	}
	before := at.step
	for i := range values {
		values[i] = m.one(c, values[i], &m.places[at.symbol][i], at, coder.Hash(at.symbol, uint32(i)), before)
		before = values[i]
	}
}

// one codes a value at a place, which is told from others by a hash.
func (m *guessModel) one(c *coder.Coder, v uint64, p *guessPlace, at *valueContext, here uint32, before uint64) uint64 {
	similar := coder.Hash(here, at.rolling[1])
	slots := [...]*uint64{m.slot(coder.Hash(here, fold(p.last))), m.slot(similar + 1), m.slot(coder.Hash(here, at.rolling[0]) + 2),
		m.slot(coder.Hash(here, fold(before)) + 3)}
	g := [guesses]uint64{p.last, p.last + p.growth, *slots[0], *slots[1], *slots[2], *slots[3]}
	from := [guessBases]uint64{0, g[guessLast], g[guessGrowth], g[guessSimilar], g[guessSame]}
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
			coder.Hash(here, p.length<<20|rough(from[base], 4)<<3|base),
			coder.Hash(here, rough(before, 4)<<3|base),
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
func (m *guessModel) slot(hash uint32) *uint64 {
	return &m.seen[hash*0x9E3779B1>>(32-guessBits)]
}

// base returns the base whose differences were shortest lately.
func (p *guessPlace) base() (best uint32) {
	least := p.cost[0] - 2<<8
	for i, c := range p.cost {
		if c < least {
			best, least = uint32(i), c
		}
	}
	return best
}

// tell returns how a value is coded, and its difference to the base.
func (p *guessPlace) tell(v uint64, g *[guesses]uint64, from uint64, base uint32) (how, d uint64) {
	for i, x := range g {
		if x == v {
			return uint64(i), 0
		}
	}
	if d = v - from; p.grain > 1 && int64(d)%int64(p.grain) == 0 {
		return guessGrains, number64(uint64(int64(d)/int64(p.grain)), base)
	}
	return guessNone, number64(d, base)
}

// value returns the value at a difference.
func (p *guessPlace) value(d, how, from uint64, base uint32) uint64 {
	if base != 0 {
		d = codec.Unzigzag(d)
	}
	if how == guessGrains {
		d *= p.grain
	}
	return from + d
}

// learn adds a value.
func (p *guessPlace) learn(v uint64, how uint32, from *[guessBases]uint64) {
	for i, x := range from {
		n := bits.Len64(number64(v-x, uint32(i)))
		p.cost[i] += (int32(n<<8) - p.cost[i]) >> 3
	}
	if how == guessNone {
		p.grain = divisor(p.grain, v)
	}
	p.growth, p.last, p.history = v-p.last, v, p.history<<3|how
}
