package coder

import "math/bits"

// Experts is the number of contexts that a Panel mixes.
const Experts = 8

// Choices is the number of sets of weights that a user of a Panel chooses from.
const Choices = 64

// A Panel codes bits as a Mixer does, for data that are worth more time: it has more contexts; to the weights of a node it adds those
// of a choice; and it learns how often what it estimates comes true (docs/internals/TKF.md, Panel).
type Panel struct {
	tables  *Tables
	lines   [Experts][]line // a power of two of them, at most most
	most    int
	used    int
	weights [][Experts]int32    // by node, in 1/65536
	chosen  [][Experts]int32    // by part of a number and choice
	refined [][steps + 1]uint16 // by node and estimate: how often a 1 came, in 1/65536
}

const (
	steps           = 32 // of estimates in the logistic domain
	stepBits        = 7  // of the domain's 12
	firstExpert     = 12000
	expertRate      = 3 // how far the weights of a node follow an error,
	choiceRate      = 2 // and those of a choice
	refineRate      = 5 // as a shift
	choiceParts     = 5 // length below 16, its last bits, length from 16 on, upper bits, deeper ones
	partUpperChoice = 3
)

// NewPanel makes a panel that may have 1<<size chances for each context, and weights for nodes.
func NewPanel(t *Tables, size, nodes int) *Panel {
	m := &Panel{tables: t, most: 1 << (size - 4), weights: make([][Experts]int32, nodes),
		chosen: make([][Experts]int32, choiceParts*Choices), refined: make([][steps + 1]uint16, nodes)}
	for i := range m.lines {
		m.lines[i] = freshLines(m.most)
	}
	for i := range m.weights {
		for j := range m.weights[i] {
			m.weights[i][j] = firstExpert
		}
		for j := range m.refined[i] {
			m.refined[i][j] = t.squash[min(j<<stepBits, len(t.squash)-1)]
		}
	}
	return m
}

// Use counts a thing that is coded.
func (m *Panel) Use() {
	m.used++
	grow(m.lines[:], m.used, m.most)
}

// CopyTo makes to a copy that learns on its own, in the memory that it has.
func (m *Panel) CopyTo(to *Panel) {
	to.tables, to.most, to.used = m.tables, m.most, m.used
	to.weights, to.chosen = append(to.weights[:0], m.weights...), append(to.chosen[:0], m.chosen...)
	to.refined = append(to.refined[:0], m.refined...)
	for i := range m.lines {
		to.lines[i] = append(to.lines[i][:0], m.lines[i]...)
	}
}

// Seek returns the lines of the contexts with the given hashes; part tells the lines of one context apart.
func (m *Panel) Seek(base *[Experts]uint32, part uint32) (at [Experts]*line) {
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
//	p = squash(Σ (w_i + v_i) · x_i),  x_i = stretch(p_i) · trust(n_i)
//	q = (p + what came at estimates like p) / 2
//	w_i += rate · x_i · (b − p), v_i likewise
//
// place selects the chances in the lines, node the weights w, choice the weights v.
func (m *Panel) Bit(c *Coder, at *[Experts]*line, place, node, choice, b uint32) uint32 {
	place &= 15
	t, w, v, r := m.tables, &m.weights[node], &m.chosen[choice], &m.refined[node]
	var x [Experts]int32
	dot := int64(0)
	for i, l := range at {
		x[i] = t.input(l[place])
		dot += int64(x[i]) * int64(w[i]+v[i])
	}
	dot = min(max(dot>>16+2048, 0), 4095)
	p, low, part := uint32(t.squash[dot]), dot>>stepBits, uint32(dot&(1<<stepBits-1))
	q := (p + (uint32(r[low])*(1<<stepBits-part)+uint32(r[low+1])*part)>>stepBits) / 2
	b = c.bit(min(max(q, leastChance), 65536-leastChance), b)
	e := int32(b<<16) - int32(p)
	to := aim(b)
	for i, l := range at {
		w[i] += (x[i]*e*expertRate + 1<<15) >> 16
		v[i] += (x[i]*e*choiceRate + 1<<15) >> 16
		l[place].update(to, &t.rates)
	}
	near := &r[low+int64(part>>(stepBits-1))]
	*near += uint16((int32(b)*65535 - int32(*near)) >> refineRate)
	return b
}

// Byte codes a byte in the given contexts; choice is below Choices. The panel has 256 nodes.
func (m *Panel) Byte(c *Coder, base *[Experts]uint32, choice uint32, b byte) byte {
	m.Use()
	return halves(b, func(node uint32) [Experts]*line { return m.Seek(base, node) },
		func(at *[Experts]*line, place, node, bit uint32) uint32 {
			return m.Bit(c, at, place, node, choice, bit)
		})
}

// A Figures codes unsigned numbers of up to 64 bits as Numbers does, with a Panel. The bits below the leading one are coded in the
// contexts as far as groups of three go.
type Figures struct {
	mix    *Panel
	groups uint32
}

// NewFigures makes a model with up to 1<<size chances for each context, and up to four groups of bits.
func NewFigures(t *Tables, size int, groups uint32) *Figures {
	return &Figures{NewPanel(t, size, numberNodes), groups}
}

// CopyTo makes to a copy that learns on its own, in the memory that it has.
func (n *Figures) CopyTo(to *Figures) { n.mix.CopyTo(to.mix) }

// Octet codes a number below 8 in the given contexts; choice is below Choices.
func (n *Figures) Octet(c *Coder, v uint32, base *[Experts]uint32, choice uint32) uint32 {
	n.mix.Use()
	at := n.mix.Seek(base, partShort)
	return n.bits(c, &at, 0, 0, choice, v)
}

// Code codes v in the given contexts; choice is below Choices.
func (n *Figures) Code(c *Coder, v uint64, base *[Experts]uint32, choice uint32) uint64 {
	n.mix.Use()
	length := n.length(c, uint32(bits.Len64(v)), base, choice)
	if length < 2 {
		return uint64(length)
	}
	out, rest := uint64(1), length-1
	at := n.mix.Seek(base, partTop+length>>1)
	half, node := length&1<<topBits, topNode+length<<topBits
	choice += partUpperChoice * Choices
	deeper := choice + Choices
	for group := range n.groups {
		for top := uint32(1); rest > 0 && top < 1<<topBits; {
			rest--
			b := n.mix.Bit(c, &at, half+top, node+top, choice, uint32(v>>rest&1))
			top, out = top<<1|b, out<<1|uint64(b)
		}
		if group+1 < n.groups && rest > 0 {
			at = n.mix.Seek(base, Hash(uint32(out), length<<8|partDeep))
			half, node, choice = 0, deepNode+group<<topBits, deeper
		}
	}
	return out<<rest | c.Raw(v, uint(rest))
}

// length codes the length of a number in bits, 0 … 64, with the decisions of Numbers.
func (n *Figures) length(c *Coder, length uint32, base *[Experts]uint32, choice uint32) uint32 {
	m := n.mix
	at := m.Seek(base, partShort)
	if m.Bit(c, &at, 0, 0, choice, Bit(length>>3 == 1)) != 0 {
		return 8 + n.bits(c, &at, 1, 1, choice+Choices, length)
	}
	if m.Bit(c, &at, 1, 1, choice, Bit(length < 8)) != 0 {
		return n.bits(c, &at, 8, 8, choice+Choices, length)
	}
	at = m.Seek(base, partLong)
	eighth := n.bits(c, &at, 0, longNode-1, choice+2*Choices, length>>3)
	if eighth == 0 { // 64
		return 64
	}
	return min(eighth<<3+n.bits(c, &at, 8, longNode+7, choice+2*Choices, length), 64)
}

// bits codes the low three bits of v, highest first, in the order of a binary heap behind a place and a node.
func (n *Figures) bits(c *Coder, at *[Experts]*line, place, node, choice, v uint32) uint32 {
	k := uint32(1)
	for i := 2; i >= 0; i-- {
		k = k<<1 | n.mix.Bit(c, at, place+k, node+k, choice, v>>i&1)
	}
	return k & 7
}
