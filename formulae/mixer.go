package formulae

import (
	"math/bits"
	"slices"
)

// A chance is an adaptive estimate of the probability that a bit is 1, with the number of
// bits it was learned from: the upper 22 bits and the lower 10 bits. The estimate of a
// chance that has seen little moves fast.
type chance uint32

const (
	freshChance chance = 1 << 31 // one half, never seen
	seenBits           = 10
	seenMask           = 1<<seenBits - 1
)

// p16 returns the probability in 1/65536.
func (c chance) p16() uint32 { return uint32(c) >> 16 }

// update moves the estimate towards bit b.
func (c *chance) update(b uint32, rates *[128]uint32) {
	n, p := *c&seenMask, uint32(*c)>>seenBits
	target := -b & (1<<22 - 1)
	p += uint32(int64(int32(target)-int32(p)) * int64(rates[n&127]) >> 16)
	*c = chance(p<<seenBits) | n + (n-chanceLimit)>>31
}

// tables holds the functions that mixing needs, computed once with integers only, so that
// every machine computes the same.
type tables struct {
	stretch [4096]int16  // ln(p/(1-p)) in 1/256, p in 1/4096
	squash  [4096]uint16 // its inverse: probability in 1/65536 of (i-2048)/256
	rates   [128]uint32  // learning rate after n bits, in 1/65536
	slow    [128]uint32  // the same, sceptical of the first bits
	trust   [8]int32     // weight of an estimate from n bits, in 1/256
}

// newTables computes the tables. The logistic function is made of powers of e^(1/256), the
// stretch by looking for the inverse.
func newTables() *tables {
	t := &tables{trust: [8]int32{0, 101, 162, 199, 221, 235, 243, 256}}
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
		t.rates[n] = 655360 / uint32(10*n+16)
		t.slow[n] = 65536 / uint32(n+11)
	}
	return t
}

// leastChance is the smallest probability in 1/65536 that is ever assumed. It bounds what
// can be decoded from a byte.
const leastChance = 16

// contexts is the number of contexts that a mixer mixes.
const contexts = 4

// A line holds the chances that decisions close to each other need, in one line of a
// processor's cache.
type line [16]chance

// A mixer codes bits with the mixed estimates of several contexts, as the PAQ family of
// compressors does: each context looks a line of chances up in a table of its own, and a
// neuron whose weights learn which context to trust joins the chances in the logistic
// domain.
type mixer struct {
	*tables
	mask    uint32
	lines   [contexts][]line
	at      [contexts]*line
	weights [][contexts]int32 // by node, in 1/65536
}

// chanceLimit is the number of bits after which a chance no longer slows down.
const chanceLimit = 127

// newMixer makes a mixer with 1<<size chances for each context and weights for nodes.
func newMixer(t *tables, size, nodes int) *mixer {
	m := &mixer{tables: t, mask: 1<<(size-4) - 1, weights: make([][contexts]int32, nodes)}
	for i := range m.lines {
		m.lines[i] = make([]line, 1<<(size-4))
		for j := range m.lines[i] {
			for k := range m.lines[i][j] {
				m.lines[i][j][k] = freshChance
			}
		}
	}
	for i := range m.weights {
		for j := range m.weights[i] {
			m.weights[i][j] = 26000
		}
	}
	return m
}

// clone returns a copy that learns on its own.
func (m *mixer) clone() *mixer {
	c := &mixer{tables: m.tables, mask: m.mask, weights: slices.Clone(m.weights)}
	for i := range m.lines {
		c.lines[i] = slices.Clone(m.lines[i])
	}
	return c
}

// seek moves on to the lines of the contexts with the given hashes; part tells the lines
// of one context apart.
func (m *mixer) seek(base *[contexts]uint32, part uint32) {
	part *= 0x9E3779B1
	for i, b := range base {
		h := (b + part) * 0x85EBCA6B
		m.at[i] = &m.lines[i][(h^h>>15)&m.mask]
	}
}

// bit codes a decision: place selects the chances in the current lines, node the weights.
func (m *mixer) bit(c *coder, place, node, b uint32) uint32 {
	place &= 15
	t, w := m.tables, &m.weights[node]
	s0, s1, s2, s3 := &m.at[0][place], &m.at[1][place], &m.at[2][place], &m.at[3][place]
	x0, x1, x2, x3 := t.input(*s0), t.input(*s1), t.input(*s2), t.input(*s3)
	dot := (int64(x0)*int64(w[0]) + int64(x1)*int64(w[1]) + int64(x2)*int64(w[2]) + int64(x3)*int64(w[3])) >> 16
	p := uint32(t.squash[min(max(dot+2048, 0), 4095)])
	b = c.bit(p, b)
	e := (int32(b<<16) - int32(p)) * 5
	w[0] += (x0*e + 1<<15) >> 16
	w[1] += (x1*e + 1<<15) >> 16
	w[2] += (x2*e + 1<<15) >> 16
	w[3] += (x3*e + 1<<15) >> 16
	s0.update(b, &t.rates)
	s1.update(b, &t.rates)
	s2.update(b, &t.rates)
	s3.update(b, &t.rates)
	return b
}

// input returns what a chance tells the neuron: less the less it has seen.
func (t *tables) input(c chance) int32 {
	return int32(t.stretch[c>>20]) * t.trust[min(c&seenMask, 7)] >> 8
}

// hash32 mixes two numbers into a hash whose all bits depend on both.
func hash32(a, b uint32) uint32 {
	h := a*0x85EBCA6B ^ (b+0x9E3779B9)*0xC2B2AE35
	h ^= h >> 15
	h *= 0x2C1B3C6D
	return h ^ h>>13
}
