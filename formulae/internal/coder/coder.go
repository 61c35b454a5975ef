// Package coder codes numbers as bits whose probabilities it learns.
//
// An arithmetic coder turns decisions into bits, a mixer of contexts estimates how probable
// they are, and numbers are made of such decisions. Both directions of every model go through
// the same code, so that reader and writer cannot disagree. All of it is integer arithmetic,
// the same on every machine. Section "Coding" of docs/internals/TKF.md is the specification.
package coder

// A Coder is an arithmetic encoder or decoder of binary decisions (a range coder with 64
// bits of state that works in units of 32). When encoding, a method is given the value and
// returns it; when decoding, the argument is ignored and the value returned.
//
// The interval is kept in units of 2^-64 of what is left when all bytes of buf are fixed.
//
//	encoding: the interval [low, low+span) holds all continuations of buf
//	decoding: the interval is told relative to the code that is read, so that it holds 0:
//	          low = begin - code, and -low < span unless the input is damaged
type Coder struct {
	decoding bool
	low      uint64
	span     uint64
	buf      []byte
	pos      int // decoding: next byte of buf; beyond its end zeros are read
}

// StartEncoding begins a new block.
func (c *Coder) StartEncoding() {
	c.decoding, c.low, c.span, c.buf = false, 0, ^uint64(0), c.buf[:0]
}

// StartDecoding begins to decode what Finish returned.
func (c *Coder) StartDecoding(block []byte) {
	c.decoding, c.span, c.buf, c.pos = true, ^uint64(0), block, 0
	c.low = -(uint64(c.next())<<32 | uint64(c.next()))
}

// Decoding reports which of the two the coder does.
func (c *Coder) Decoding() bool { return c.decoding }

// Len returns the bytes of the block that is decoded, or of what is fixed of the one that is
// encoded.
func (c *Coder) Len() int { return len(c.buf) }

// Overrun reports whether far more was decoded than the block holds.
func (c *Coder) Overrun() bool { return c.pos > len(c.buf)+16 }

// bit codes a decision of which 1 has the probability p/65536, 0 < p < 65536. No branch
// depends on the decision, which a processor could not predict.
func (c *Coder) bit(p, b uint32) uint32 {
	bound := (c.span >> 16) * uint64(p)
	if c.decoding {
		b = Bit(-c.low < bound)
	}
	zero := uint64(b) - 1 // all ones for a 0
	c.span = bound + zero&(c.span-2*bound)
	up := zero & bound
	if c.low += up; c.low < up {
		c.carry()
	}
	if c.span < 1<<32 {
		c.shift()
	}
	return b
}

// direct codes the low n <= 16 bits of v, all values alike.
func (c *Coder) direct(v uint64, n uint) uint64 {
	v &= 1<<n - 1
	c.span >>= n
	if c.decoding {
		v = min(-c.low/c.span, 1<<n-1)
	}
	up := v * c.span
	if c.low += up; c.low < up {
		c.carry()
	}
	if c.span < 1<<32 {
		c.shift()
	}
	return v
}

// Raw codes n bits of v, all values alike.
func (c *Coder) Raw(v uint64, n uint) uint64 {
	var out uint64
	for n > 0 {
		k := min(n, 16)
		n -= k
		out = out<<k | c.direct(v>>n, k)
	}
	return out
}

// carry carries into the bytes that were written already, when low has passed 2^64. When
// decoding that means only that the interval begins at the code.
func (c *Coder) carry() {
	if c.decoding {
		return
	}
	for i := len(c.buf) - 1; i >= 0; i-- {
		if c.buf[i]++; c.buf[i] != 0 {
			return
		}
	}
}

// shift makes the interval 2^32 times larger: it writes, or reads, the 32 bits of low that
// can change by a carry only.
func (c *Coder) shift() {
	if c.decoding {
		c.low = c.low<<32 - uint64(c.next())
	} else {
		c.buf = append(c.buf, byte(c.low>>56), byte(c.low>>48), byte(c.low>>40), byte(c.low>>32))
		c.low <<= 32
	}
	c.span <<= 32
}

// Finish ends the block and returns it: the shortest continuation that lies in the
// interval, given that the decoder reads zeros beyond the end.
func (c *Coder) Finish() []byte {
	for n := uint(0); n <= 8; n++ {
		unit := uint64(1) << (64 - 8*n) // 0 stands for 2^64
		up := (c.low + unit - 1) &^ (unit - 1)
		if up-c.low >= c.span {
			continue
		}
		if up < c.low { // 2^64
			c.carry()
		}
		for i := range n {
			c.buf = append(c.buf, byte(up>>(56-8*i)))
		}
		break
	}
	return c.buf
}

// next reads 32 bits, zeros beyond the end.
func (c *Coder) next() uint32 {
	var v uint32
	if c.pos+4 <= len(c.buf) {
		b := c.buf[c.pos:]
		v = uint32(b[0])<<24 | uint32(b[1])<<16 | uint32(b[2])<<8 | uint32(b[3])
	} else {
		for i := range 4 {
			if c.pos+i < len(c.buf) {
				v |= uint32(c.buf[c.pos+i]) << (24 - 8*i)
			}
		}
	}
	c.pos += 4
	return v
}
