package tkf

import (
	"math/bits"
	"slices"
	"sync"

	"tracekit/codec"
	"tracekit/formulae/internal/coder"
	"tracekit/formulae/internal/symbols"
)

// A valueCoder codes the values that follow a symbol in place: counters, attributes, what open
// symbols leave out (docs/internals/TKF.md, Values).
type valueCoder interface {
	code(c *coder.Coder, at *valueContext, values []uint64)
}

// newValueCoder returns a value coder of files of a version that knows nothing.
func newValueCoder(t *coder.Tables, version byte) valueCoder {
	switch {
	case version < versionValues:
		return newGrowthModel(t)
	case version < versionPredicted:
		return newGuessModel(t)
	}
	return newValueModel(t, version)
}

// valueModels are value coders of locations that start from what a prior one has learned of another location. Those that are given back
// are made anew in the same memory. They may be used concurrently.
type valueModels struct {
	tables  *coder.Tables
	version byte
	begin   sync.Once
	prior   *valueModel // nil: what one knows that knows nothing
	free    sync.Pool
}

// learn makes all later models start from what c has learned.
func (p *valueModels) learn(c valueCoder) {
	if m, ok := c.(*valueModel); ok {
		p.prior = newValueModel(p.tables, p.version)
		m.copyTo(p.prior)
	}
}

// get returns a value coder for the beginning of a location.
func (p *valueModels) get() valueCoder {
	if p.version < versionPredicted {
		return newValueCoder(p.tables, p.version)
	}
	p.begin.Do(func() {
		if p.prior == nil {
			p.prior = newValueModel(p.tables, p.version)
		}
	})
	m, ok := p.free.Get().(*valueModel)
	if !ok {
		m = newValueModel(p.tables, p.version)
	}
	p.prior.copyTo(m)
	return m
}

// put gives a value coder back that is no longer used.
func (p *valueModels) put(c valueCoder) {
	if m, ok := c.(*valueModel); ok {
		p.free.Put(m)
	}
}

// A valueContext is what is known of the event that the values belong to.
type valueContext struct {
	table   *symbols.Table
	symbol  uint32
	recent  recent
	elapsed uint64 // the last step of time that was not 0; 0 if none is known

	// Before version 10:
	rolling [2]uint32 // hashes of the numbers of the last symbols, this one included: 11 and 4 of them
	step    uint64    // of time to the event
}

// pass moves on to an event, by the step of time to it and the hash of its symbol.
func (a *valueContext) pass(step uint64, hash uint32) {
	if step > 0 {
		a.elapsed = step
	}
	a.recent.add(hash)
}

// recent are hashes of the last symbols, 11 and 4 of them, that are the same on all ranks.
type recent [2]uint32

func (r *recent) add(hash uint32) {
	r[0] = r[0]*0x9E3779B8 + hash + 1
	r[1] = r[1]*0x3779B100 + hash + 1
}

// A valueModel codes a value as the guess that comes true, as the hash of a number, or as the difference to what was closest.
type valueModel struct {
	guesses   *coder.Figures
	rest      *coder.Figures
	names     *coder.Figures
	seen      []uint64 // by hash of a context: the value that followed it last
	rates     []rate   // by hash of a context: what followed it
	costs     [][bases]int32
	prefixes  []uint64 // of hashes
	searches  int      // for prefixes, by the writer
	quantized bool     // values may have quanta

	hashes []uint32  // by symbol, of what it is
	places [][]place // by symbol and position
	first  uint64    // value of the event before
	number uint64    // the last first value that may be the number of a hash
}

// A place remembers the values at one position after one symbol.
type place struct {
	last, growth uint64
	grain        uint64 // greatest common divisor of the values that nothing predicted; 0: of none
	history      uint32 // how the last values were coded
	length       uint32 // of the last difference, in bits
	named        named
	quantum      quantum
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
	toldNumber = guesses // none: the number follows whose hash it is
	toldRest   = 7       // none: the difference follows
)

// bases are what a difference may be to: zero, and the guesses last, growth and similar.
const bases = 4

// Sizes of the model: chances of a context, values that are seen, rates, costs.
const (
	valueSlots = 17
	nameSlots  = 12
	seenBits   = 14
	rateBits   = 14
	costBits   = 12
	headStart  = 8 << 8 // of zero, in bits: contexts predict it better
)

func newValueModel(t *coder.Tables, version byte) *valueModel {
	words := version >= versionWords
	figures := func(size int) *coder.Figures { return coder.NewFigures(t, size, 2+coder.Bit(words)) }
	return &valueModel{quantized: words, guesses: figures(valueSlots), rest: figures(valueSlots), names: figures(nameSlots),
		seen: make([]uint64, 1<<seenBits), rates: make([]rate, 1<<rateBits), costs: make([][bases]int32, 1<<costBits)}
}

// copyTo makes to, in the memory that it has, begin with what was learned that holds for other locations too.
func (m *valueModel) copyTo(to *valueModel) {
	*to = valueModel{quantized: m.quantized, guesses: to.guesses, rest: to.rest, names: to.names,
		seen: to.seen, rates: to.rates, costs: to.costs}
	m.guesses.CopyTo(to.guesses)
	m.rest.CopyTo(to.rest)
	m.names.CopyTo(to.names)
	copy(to.seen, m.seen)
	copy(to.rates, m.rates)
	copy(to.costs, m.costs)
	to.prefixes = slices.Clone(m.prefixes)
}

// slot returns the entry of a table that a hash chooses.
func slot[T any](table []T, hash uint32) *T {
	return &table[hash*0x9E3779B1>>(32-bits.Len(uint(len(table)-1)))]
}

// code codes the values of an event in place. What comes before the first one is the time that has passed.
func (m *valueModel) code(c *coder.Coder, at *valueContext, values []uint64) {
	for int(at.symbol) >= len(m.places) {
		m.places, m.hashes = append(m.places, nil), append(m.hashes, at.table.Full(uint32(len(m.hashes))))
	}
	for len(m.places[at.symbol]) < len(values) {
		m.places[at.symbol] = append(m.places[at.symbol], place{})
	}
	before, first, last := at.elapsed, at.elapsed, m.places[at.symbol][0].last
	for i := range values {
		here := coder.Hash(m.hashes[at.symbol], uint32(i))
		before = m.one(c, values[i], &m.places[at.symbol][i], at, here, before, first, last)
		if values[i] = before; i == 0 {
			first, last = before, before
		}
	}
	if m.first = first; first>>nameLength == 0 {
		m.number = first
	}
}

// one codes a value at a place, which is told from others by a hash. The value before it in the event, the first one, and the last one
// at the place of that one say what kind of interval is measured.
func (m *valueModel) one(c *coder.Coder, v uint64, p *place, at *valueContext, here uint32, before, first, last uint64) uint64 {
	similar, same := coder.Hash(here, at.recent[1]), coder.Hash(here, at.recent[0])
	slots := [...]*uint64{slot(m.seen, coder.Hash(here, fold(p.last))), slot(m.seen, similar+1), slot(m.seen, same+2),
		slot(m.seen, coder.Hash(here, fold(before))+3)}
	g := [guesses]uint64{p.last, p.last + p.growth, *slots[0], *slots[1], *slots[2], *slots[3]}
	after := coder.Hash(coder.Hash(here, rough(at.elapsed, 2)), rough(m.first, 4))
	alike := coder.Hash(coder.Hash(here, rough(first, 6)), rough(before, 4))
	rates := [...]*rate{slot(m.rates, coder.Hash(coder.Hash(here, rough(first, 4)), rough(last, 3))), slot(m.rates, after)}

	how, number, prefix := uint32(toldRest), uint64(0), uint64(0)
	if !c.Decoding() {
		if i := slices.Index(g[:], v); i >= 0 {
			how = uint32(i)
		} else if number, prefix = m.find(v, &p.named); prefix != 0 {
			how = toldNumber
		}
	}
	equal := agreement(&g)
	switch how = m.guesses.Octet(c, how, &[coder.Experts]uint32{
		coder.Hash(here, p.history),
		coder.Hash(similar, p.history&7),
		coder.Hash(coder.Hash(here, equal), p.history&63),
		coder.Hash(same, equal),
		coder.Hash(alike, equal),
		coder.Hash(after, p.history&7),
	}, equal); how {
	default:
		v = g[how]
	case toldNumber:
		v = m.name(c, v, number, prefix, &p.named, here)
	case toldRest:
		cost := slot(m.costs, coder.Hash(here, uint32(bits.Len64(first))))
		base := cheapest(cost)
		from := [bases]uint64{0, g[guessLast], g[guessGrowth], g[guessSimilar]}[base]
		v = m.difference(c, v, from, base, p, here, &[coder.Experts]uint32{
			coder.Hash(similar, base),
			coder.Hash(same, base),
			coder.Hash(coder.Hash(here+1, base), rough(rates[0].at(at.elapsed), 4)),
			coder.Hash(coder.Hash(here+2, base), rough(rates[1].at(at.elapsed), 4)),
			coder.Hash(alike, base),
			coder.Hash(after, base),
			coder.Hash(coder.Hash(here+3, base), rough(before, 4)),
			coder.Hash(coder.Hash(here+4, base), p.length<<16|rough(from, 4)),
		})
	}
	for _, s := range slots {
		*s = v
	}
	for _, r := range rates {
		r.learn(v, at.elapsed)
	}
	cost := slot(m.costs, coder.Hash(here, uint32(bits.Len64(first))))
	for i, x := range [bases]uint64{0, g[guessLast], g[guessGrowth], g[guessSimilar]} {
		cost[i] += (int32(bits.Len64(number64(v-x, uint32(i))))<<8 - cost[i]) >> 3
	}
	if m.quantized && p.grain == 1 {
		m.learnQuantum(c, v, p, how, here)
	}
	p.growth, p.last, p.history = v-p.last, v, p.history<<3|how
	return v
}

// cheapest returns the base whose differences were shortest lately.
func cheapest(cost *[bases]int32) (best uint32) {
	least := cost[0] - headStart
	for i, c := range cost {
		if c < least {
			best, least = uint32(i), c
		}
	}
	return best
}

// difference codes a value as the difference to a base, in grains if there are any: one more than the multiple, or 0 and then the
// difference.
func (m *valueModel) difference(c *coder.Coder, v, from uint64, base uint32, p *place, here uint32,
	contexts *[coder.Experts]uint32) uint64 {
	d, choice := v-from, here%coder.Choices
	if q := &p.quantum; q.size > 0 {
		if value, told := m.quanta(c, v, from, base, p, here, contexts); told {
			return value
		}
	} else if p.grain > 1 {
		multiple := uint64(0)
		if int64(d)%int64(p.grain) == 0 {
			multiple = number64(uint64(int64(d)/int64(p.grain)), base) + 1
		}
		if multiple = m.rest.Code(c, multiple, contexts, choice); multiple > 0 {
			p.length = uint32(bits.Len64(multiple))
			return from + difference64(multiple-1, base)*p.grain
		}
		for i := range contexts {
			contexts[i]++
		}
	}
	d = m.rest.Code(c, number64(d, base), contexts, choice)
	p.length = uint32(bits.Len64(d))
	v = from + difference64(d, base)
	p.grain = divisor(p.grain, v)
	return v
}

// A rate is the mean of the values that followed a context, and of the time that passed to each, in 1/256.
type rate struct {
	value, elapsed uint64
	n              int64 // of how many it is, at most rateMost
}

const rateMost = 6

// at returns the value that is expected once a time has passed.
func (r *rate) at(elapsed uint64) uint64 {
	hi, lo := bits.Mul64(r.value, elapsed)
	if hi >= r.elapsed {
		return 0
	}
	v, _ := bits.Div64(hi, lo, r.elapsed)
	return v
}

// learn adds a value. Large ones are no counters, and make it forget.
func (r *rate) learn(v, elapsed uint64) {
	if (v|elapsed)>>48 != 0 {
		*r = rate{}
		return
	}
	r.n = min(r.n+1, rateMost)
	r.value += uint64((int64(v<<8) - int64(r.value)) / r.n)
	r.elapsed += uint64((int64(elapsed<<8) - int64(r.elapsed)) / r.n)
}

// fold makes a hash of a value.
func fold(v uint64) uint32 { return coder.Hash(uint32(v), uint32(v>>32)) }

// rough returns the length of a value and so many bits below the leading one.
func rough(v uint64, below int) uint32 {
	n := bits.Len64(v)
	if n <= below {
		return uint32(v)
	}
	return uint32(n<<below) | uint32(v>>(n-1-below))&(1<<below-1)
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

// number64 returns a difference as a number that is small if the difference is; to the base zero it is the value.
func number64(d uint64, base uint32) uint64 {
	if base == 0 {
		return d
	}
	return codec.Zigzag(d)
}

// difference64 is the inverse of number64.
func difference64(n uint64, base uint32) uint64 {
	if base == 0 {
		return n
	}
	return codec.Unzigzag(n)
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
