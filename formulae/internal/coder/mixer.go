package coder

import "math/bits"

// A chance is an adaptive estimate of the probability that a bit is 1: the upper 27 bits
// are the probability, the lower 5 the number of bits it was learned from, at most
// chanceLimit. An estimate that has seen little moves fast; none becomes so slow that it
// could not follow a program that changes its ways.
type chance uint32

const (
	freshChance chance = 1 << 31 // one half, never seen
	seenMask           = 1<<5 - 1
	chanceLimit        = 30
)

// p16 returns the probability in 1/65536.
func (c chance) p16() uint32 { return uint32(c) >> 16 }

// update moves the estimate towards a bit, told as aim(bit), by the rate for what it has
// seen.
func (c *chance) update(aim int64, rates *[seenMask + 1]int64) {
	n, p := *c&seenMask, int64(*c)
	p += (aim - p) * rates[n] >> 16
	*c = chance(p)&^seenMask | (n + (n-chanceLimit)>>31)
}

// aim returns what a chance approaches that sees nothing but this bit.
func aim(bit uint32) int64 { return int64(-bit) }

// Tables holds the functions that mixing needs, computed once with integers only, so that
// every machine computes the same.
type Tables struct {
	stretch [4096]int16         // ln(p/(1-p)) in 1/256, p in 1/4096
	squash  [4096]uint16        // its inverse: probability in 1/65536 of (i-2048)/256
	rates   [seenMask + 1]int64 // learning rate after n bits, in 1/65536: 1/(n + 1.3)
	slow    [seenMask + 1]int64 // the same, sceptical of the first bits: 1/(n + 11)
	trust   [8]int32            // weight of an estimate from n bits, in 1/256
}

// NewTables computes the tables. The logistic function is made of powers of e^(1/256), the
// stretch by looking for the inverse.
func NewTables() *Tables {
	t := &Tables{trust: [8]int32{0, 101, 162, 199, 221, 235, 243, 256}}
	const root = 4521226217936247 // e^(1/256) in 1/2^52
	power := uint64(1) << 48      // e^(i/256) in 1/2^48
	for i := range 2048 {
		p := uint64(65536) * (power >> 16) / (power>>16 + 1<<32)
		t.squash[2048+i] = uint16(min(p, 65536-leastChance))
		t.squash[2048-i] = uint16(max(65536-p, leastChance))
		hi, lo := bits.Mul64(power, root)
		power = hi<<12 | lo>>52
	}
	t.squash[0] = t.squash[1]
	x := 0
	for i := range t.stretch {
		for x < 4095 && int(t.squash[x]) < i<<4+8 {
			x++
		}
		t.stretch[i] = int16(x - 2048)
	}
	for n := range t.rates {
		t.rates[n] = 655360 / int64(10*n+13)
		t.slow[n] = 65536 / int64(n+11)
	}
	return t
}

// leastChance is the smallest probability in 1/65536 that is ever assumed. It bounds what
// can be decoded from a byte.
const leastChance = 16

// Contexts is the number of contexts that a mixer mixes.
const Contexts = 3

// A line holds the chances that decisions close to each other need, in one line of a
// processor's cache.
type line [16]chance

// A Mixer codes bits with the mixed estimates of several contexts, as the PAQ family of compressors does: each context looks a line of
// chances up in a table of its own. A neuron, whose weights learn which context to trust, joins the chances in the logistic domain.
type Mixer struct {
	tables  *Tables
	lines   [Contexts][]line // a power of two of them, at most most
	most    int
	used    int
	weights [][Contexts]int32 // by node, in 1/65536
}

// firstWeight is what weights are at first: as if the contexts agreed by half.
const firstWeight = 34000

// learningRate is how far weights follow an error, in 1/65536 for each unit of both the
// error and the input.
const learningRate = 6

// A Mixer begins with firstLines lines for each context, and has at least linesPerUse for
// each thing that was coded, until it has all it may have.
const (
	firstLines  = 1 << 5
	linesPerUse = 32
)

// freshLines returns the lines that a context has at first, of which there may be so many at most.
func freshLines(most int) []line {
	out := make([]line, min(firstLines, most))
	for i := range out {
		for k := range out[i] {
			out[i][k] = freshChance
		}
	}
	return out
}

// grow doubles the lines of all contexts when there are few for so many things that were coded: so what is short takes little time and
// memory. Hashes that shared a line each keep what it has learned.
func grow(lines [][]line, used, most int) {
	if used*linesPerUse < len(lines[0]) || len(lines[0]) >= most {
		return
	}
	for i, l := range lines {
		lines[i] = append(l, l...)
	}
}

// NewMixer makes a mixer that may have 1<<size chances for each context, and weights for
// nodes.
func NewMixer(t *Tables, size, nodes int) *Mixer {
	m := &Mixer{tables: t, most: 1 << (size - 4), weights: make([][Contexts]int32, nodes)}
	for i := range m.lines {
		m.lines[i] = freshLines(m.most)
	}
	for i := range m.weights {
		for j := range m.weights[i] {
			m.weights[i][j] = firstWeight
		}
	}
	return m
}

// Use counts a thing that is coded.
func (m *Mixer) Use() {
	m.used++
	grow(m.lines[:], m.used, m.most)
}

// CopyTo makes to a copy that learns on its own, in the memory that it has.
func (m *Mixer) CopyTo(to *Mixer) {
	to.tables, to.most, to.used = m.tables, m.most, m.used
	to.weights = append(to.weights[:0], m.weights...)
	for i := range m.lines {
		to.lines[i] = append(to.lines[i][:0], m.lines[i]...)
	}
}

// Seek returns the lines of the contexts with the given hashes; part tells the lines of one
// context apart.
func (m *Mixer) Seek(base *[Contexts]uint32, part uint32) (at [Contexts]*line) {
	part *= 0x9E3779B1
	for i, b := range base {
		h := (b + part) * 0x85EBCA6B
		l := m.lines[i]
		at[i] = &l[int(h^h>>15)&(len(l)-1)]
	}
	return at
}

// Bit codes a decision b, or decodes it and returns it. In units of the logistic domain:
//
//	p = squash(Σ w_i · x_i),  x_i = stretch(p_i) · trust(n_i)
//	w_i += rate · x_i · (b − p)
//
// place selects the chances in the lines, node the weights.
func (m *Mixer) Bit(c *Coder, at *[Contexts]*line, place, node, b uint32) uint32 {
	place &= 15
	t, w := m.tables, &m.weights[node]
	s0, s1, s2 := &at[0][place], &at[1][place], &at[2][place]
	x0, x1, x2 := t.input(*s0), t.input(*s1), t.input(*s2)
	dot := (int64(x0)*int64(w[0]) + int64(x1)*int64(w[1]) + int64(x2)*int64(w[2])) >> 16
	p := uint32(t.squash[min(max(dot+2048, 0), 4095)])
	b = c.bit(p, b)
	e := (int32(b<<16) - int32(p)) * learningRate
	w[0] += (x0*e + 1<<15) >> 16
	w[1] += (x1*e + 1<<15) >> 16
	w[2] += (x2*e + 1<<15) >> 16
	to := aim(b)
	s0.update(to, &t.rates)
	s1.update(to, &t.rates)
	s2.update(to, &t.rates)
	return b
}

// Byte codes a byte in the given contexts; the mixer has 256 nodes.
func (m *Mixer) Byte(c *Coder, base *[Contexts]uint32, b byte) byte {
	m.Use()
	return halves(b, func(node uint32) [Contexts]*line { return m.Seek(base, node) },
		func(at *[Contexts]*line, place, node, bit uint32) uint32 { return m.Bit(c, at, place, node, bit) })
}

// halves codes a byte, highest bit first. A line holds the decisions about half of it.
func halves[A any](b byte, seek func(node uint32) A, code func(at *A, place, node, bit uint32) uint32) byte {
	node := uint32(1)
	at := seek(node)
	for i := 7; i >= 0; i-- {
		if i == 3 {
			at = seek(node)
		}
		place := node
		if i < 4 {
			place = 1<<(3-i) | node&(1<<(3-i)-1)
		}
		node = node<<1 | code(&at, place, node, uint32(b)>>i&1)
	}
	return byte(node)
}

// input returns what a chance tells the neuron: less the less it has seen.
func (t *Tables) input(c chance) int32 {
	return int32(t.stretch[c>>20]) * t.trust[min(c&seenMask, 7)] >> 8
}

// Hash mixes two numbers into a hash whose all bits depend on both.
func Hash(a, b uint32) uint32 {
	h := a*0x85EBCA6B ^ (b+0x9E3779B9)*0xC2B2AE35
	h ^= h >> 15
	h *= 0x2C1B3C6D
	return h ^ h>>13
}
