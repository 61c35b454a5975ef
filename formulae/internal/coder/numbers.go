package coder

import (
	"math"
	"math/bits"
)

// Numbers codes unsigned numbers of up to 64 bits (docs/internals/TKF.md, Numbers) in three contexts,
// which are hashes that the caller chooses: first the length in bits, then the bits
// below the leading one, the upper three in the same contexts. The lower bits of short
// numbers are coded in the context of the bits above alone, where the granularity of a
// clock shows; those of long numbers count as noise.
//
// The decisions about the length, with their places in lines of chances:
//
//	is it 8 … 15?        0
//	if not, is it 0 … 7? 1
//	if not, length / 8   1 … 7 of a line of its own
//	length mod 8         2 … 8, 9 … 15, or 8 … 15 of that line
type Numbers struct {
	mix  *Mixer   // of the length and the upper bits
	fine []chance // by length and bits so far; empty: all lower bits count as noise

	Depth uint32 // groups of three bits below the upper ones that are coded in the contexts too

	Weigh bool    // whether to find out what modelling the lower bits is good for
	Saved float64 // what it has saved, in bits
}

// Sizes, and the numbers of nodes: which weights a decision uses.
const (
	topBits     = 3  // bits below the leading one that are coded in the contexts
	longNode    = 16 // of weights: length / 8 of long numbers, then their length mod 8
	topNode     = longNode + 16
	deepNode    = topNode + 65<<topBits
	numberNodes = deepNode + mostDepth<<topBits
	mostDepth   = 4
	fineLength  = 11              // longest number whose lower bits are modelled
	fineChances = 1 << fineLength // bits so far of a number are fewer than its length
)

// Parts of the contexts' lines: which decisions share a line. From partTop on there is one
// part for every two lengths.
const (
	partShort = iota
	partLong
	partTop
	partDeep = 0xFF
)

// NewNumbers makes a model with up to 1<<size chances for each context. Fine says whether the
// lower bits of short numbers are modelled too.
func NewNumbers(t *Tables, size int, fine bool) *Numbers {
	n := &Numbers{mix: NewMixer(t, size, numberNodes)}
	if fine {
		n.fine = make([]chance, fineChances)
	}
	for i := range n.fine {
		n.fine[i] = freshChance
	}
	return n
}

// CopyTo makes to, which may be the zero value, a copy that learns on its own, in the memory
// that it has.
func (n *Numbers) CopyTo(to *Numbers) {
	if to.mix == nil {
		to.mix = &Mixer{}
	}
	n.mix.CopyTo(to.mix)
	to.fine = append(to.fine[:0], n.fine...)
}

// Code codes v in the given contexts.
func (n *Numbers) Code(c *Coder, v uint64, base [Contexts]uint32) uint64 {
	n.mix.Use()
	length := n.length(c, uint32(bits.Len64(v)), &base)
	if length < 2 {
		return uint64(length)
	}
	return n.below(c, v, length, &base)
}

// length codes the length of a number in bits, 0 … 64. Most steps of time have 8 … 15, which
// take four decisions.
func (n *Numbers) length(c *Coder, length uint32, base *[Contexts]uint32) uint32 {
	m := n.mix
	at := m.Seek(base, partShort)
	if m.Bit(c, &at, 0, 0, Bit(length>>3 == 1)) != 0 {
		return 8 + n.octet(c, &at, 2, 0, length)
	}
	if m.Bit(c, &at, 1, 1, Bit(length < 8)) != 0 {
		return n.octet(c, &at, 9, 0, length)
	}
	at = m.Seek(base, partLong)
	eighth := n.octet(c, &at, 1, longNode-1, length>>3)
	if eighth == 0 { // 64
		return 64
	}
	return min(eighth<<3+n.octet(c, &at, 9, longNode-1, length), 64)
}

// octet codes the low three bits of v, highest first: first is the place of the first decision
// and node + first its node; the others follow in the order of a binary heap.
func (n *Numbers) octet(c *Coder, at *[Contexts]*line, first, node, v uint32) uint32 {
	k := uint32(1)
	for i := 2; i >= 0; i-- {
		k = k<<1 | n.mix.Bit(c, at, first+k-1, node+first+k-1, v>>i&1)
	}
	return k & 7
}

// Bit returns a decision as a number.
func Bit(b bool) uint32 {
	if b {
		return 1
	}
	return 0
}

// below codes the bits below the leading one of a number of length > 1 bits, and returns the
// number.
func (n *Numbers) below(c *Coder, v uint64, length uint32, base *[Contexts]uint32) uint64 {
	at := n.mix.Seek(base, partTop+length>>1)
	half, node := length&1<<topBits, topNode+length<<topBits
	out, rest := uint64(1), length-1
	for top := uint32(1); rest > 0 && top < 1<<topBits; {
		rest--
		b := n.mix.Bit(c, &at, half+top, node+top, uint32(v>>rest&1))
		top, out = top<<1|b, out<<1|uint64(b)
	}
	for deep := range n.Depth {
		at := n.mix.Seek(base, Hash(uint32(out), length<<8|partDeep))
		for top := uint32(1); rest > 0 && top < 1<<topBits; {
			rest--
			b := n.mix.Bit(c, &at, top, deepNode+deep<<topBits+top, uint32(v>>rest&1))
			top, out = top<<1|b, out<<1|uint64(b)
		}
	}
	if length > fineLength || len(n.fine) == 0 {
		return out<<rest | c.Raw(v, uint(rest))
	}
	for rest > 0 {
		rest--
		f := &n.fine[1<<(length-1)|out]
		p := min(max(f.p16(), leastChance), 65536-leastChance)
		b := c.bit(p, uint32(v>>rest&1))
		if n.Weigh {
			n.Saved += worth(p, b)
		}
		f.update(aim(b), &n.mix.tables.slow)
		out = out<<1 | uint64(b)
	}
	return out
}

// worth returns what it saves to code b with probability p/65536 of a 1 instead of one half.
func worth(p, b uint32) float64 {
	if b == 0 {
		p = 65536 - p
	}
	return 1 + math.Log2(float64(p)/65536)
}
