package coder

import (
	"bytes"
	"math"
	"math/rand/v2"
	"testing"
)

// numbersOf are sequences of numbers as traces have them, and some as they never have.
func numbersOf(r *rand.Rand, n int) map[string][]uint64 {
	out := make(map[string][]uint64)
	add := func(name string, next func(i int) uint64) {
		for i := range n {
			out[name] = append(out[name], next(i))
		}
	}
	add("zeros", func(int) uint64 { return 0 })
	add("largest", func(int) uint64 { return math.MaxUint64 })
	add("of every length", func(i int) uint64 { return r.Uint64() >> (i % 64) })
	add("powers", func(i int) uint64 { return 1<<(i%65) - uint64(i&1) })
	add("ticks of 42", func(int) uint64 { return 42 * r.Uint64N(48) })
	add("one value, seldom another", func(i int) uint64 { return 1000 + uint64(Bit(i%100 == 99)) })
	add("noise", func(int) uint64 { return r.Uint64() })
	return out
}

// Numbers come back under every model: coarse and fine, with any depth, in any contexts, from a few chances on.
func TestNumbersComeBack(t *testing.T) {
	t.Parallel()
	tables, r := NewTables(), rand.New(rand.NewPCG(1, 2))
	for name, values := range numbersOf(r, 600) {
		for _, fine := range []bool{false, true} {
			for depth := range uint32(mostDepth + 1) {
				size, change := 5+r.IntN(12), r.Uint32()
				run := func(c *Coder, value func(i int) uint64) (out []uint64) {
					m := NewNumbers(tables, size, fine)
					m.Depth = depth
					for i := range values {
						out = append(out, m.Code(c, value(i), [Contexts]uint32{uint32(i) & change, 7, change}))
					}
					return out
				}
				var enc, dec Coder
				enc.StartEncoding()
				run(&enc, func(i int) uint64 { return values[i] })
				block := bytes.Clone(enc.Finish())
				dec.StartDecoding(block)
				for i, v := range run(&dec, func(int) uint64 { return 0 }) {
					if v != values[i] {
						t.Fatalf("%s, depth %d: value %d is %d, want %d", name, depth, i, v, values[i])
					}
				}
				if dec.Overrun() || dec.Len() != len(block) {
					t.Errorf("%s: the decoder read beyond %d bytes", name, len(block))
				}
				// The same numbers are the same bytes, also of a model that was copied before it learned.
				enc.StartEncoding()
				run(&enc, func(i int) uint64 { return values[i] })
				if again := enc.Finish(); !bytes.Equal(again, block) {
					t.Errorf("%s: %d bytes are others the second time", name, len(block))
				}
			}
		}
	}
}

// What is always the same costs nearly nothing but for its lower bits, noise little more than its bits, and the granularity of a
// clock is learned.
func TestNumbersAreShort(t *testing.T) {
	t.Parallel()
	const n = 4000
	tables, values := NewTables(), numbersOf(rand.New(rand.NewPCG(3, 4)), n)
	length := func(name string, fine bool) (bytes int, saved float64) {
		m := NewNumbers(tables, 14, fine)
		m.Weigh = true
		var c Coder
		c.StartEncoding()
		for _, v := range values[name] {
			m.Code(&c, v, [Contexts]uint32{1, 2, 3})
		}
		return len(c.Finish()), m.Saved
	}
	for name, most := range map[string]float64{"zeros": 0.03, "largest": 60.1, "one value, seldom another": 0.3, "noise": 66.5,
		"ticks of 42": 7.5} {
		if got, _ := length(name, true); float64(got)*8 > most*n {
			t.Errorf("%s: %.3f bits a number, want at most %v", name, float64(got)*8/n, most)
		}
	}
	// What modelling is said to save is what it saves.
	coarse, none := length("ticks of 42", false)
	fine, saved := length("ticks of 42", true)
	if got := float64(coarse-fine) * 8; none != 0 || math.Abs(got-saved) > 0.02*saved+64 || saved < n {
		t.Errorf("modelling lower bits saves %v bits, says %v (and %v without)", got, saved, none)
	}
}

// A copy learns on its own: what one of both is given later changes nothing in the other.
func TestCopiesLearnOnTheirOwn(t *testing.T) {
	t.Parallel()
	tables, r := NewTables(), rand.New(rand.NewPCG(5, 6))
	code := func(m *Numbers, from, to uint64) []byte {
		var c Coder
		c.StartEncoding()
		for v := from; v < to; v++ {
			m.Code(&c, v*v%1000, [Contexts]uint32{uint32(v % 3), 4, 5})
		}
		return bytes.Clone(c.Finish())
	}
	m := NewNumbers(tables, 10, true)
	code(m, 0, 500)
	var copied Numbers
	for range 3 { // into memory that was used before, too
		m.CopyTo(&copied)
		copied.Depth = m.Depth
		want := code(m, 500, 600)
		code(m, 0, 100+r.Uint64N(200))
		if got := code(&copied, 500, 600); !bytes.Equal(got, want) {
			t.Error("a copy codes otherwise than the original did")
		}
	}
}

// Whatever bytes are decoded, numbers come out, and that far more was read than there is becomes known before long.
func TestDamageEnds(t *testing.T) {
	t.Parallel()
	tables, r := NewTables(), rand.New(rand.NewPCG(7, 8))
	for range 40 {
		block := make([]byte, r.IntN(300))
		for i := range block {
			block[i] = byte(r.Uint32())
			if r.IntN(3) == 0 {
				block[i] = byte(r.IntN(2) * 255)
			}
		}
		var c Coder
		c.StartDecoding(block)
		m := NewNumbers(tables, 10, true)
		n := 0
		for ; !c.Overrun(); n++ {
			m.Code(&c, 0, [Contexts]uint32{1, 2, 3})
			// No decision is cheaper than its least chance: see leastChance.
			if most := (len(block) + 32) * 8 * int(math.Ceil(-1/math.Log2(1-leastChance/65536.))); n > most {
				t.Fatalf("%d numbers of %d bytes", n, len(block))
			}
		}
	}
}

// The tables are the logistic function and its inverse, to within a part of their units.
func TestTables(t *testing.T) {
	t.Parallel()
	tables := NewTables()
	for i, p := range tables.squash {
		x := float64(i-2048) / 256
		want := min(max(65536/(1+math.Exp(-x)), leastChance), 65536-leastChance)
		if math.Abs(float64(p)-want) > 2 && i > 0 || p < leastChance || i > 0 && p < tables.squash[i-1] {
			t.Errorf("squash(%v) is %d/65536, want %v", x, p, want)
		}
	}
	for i, x := range tables.stretch {
		p := min(max((float64(i)+0.5)/4096, leastChance/65536.), 1-leastChance/65536.)
		want := min(max(256*math.Log(p/(1-p)), -2048), 2047)
		if slope := 256 / (p * (1 - p)) / 4096; math.Abs(float64(x)-want) > 2+slope { // half of 1/4096 to either side
			t.Errorf("stretch(%v) is %d/256, want %v", p, x, want)
		}
	}
}

// An estimate of what is always the same comes close to certainty, and never reaches it.
func TestChances(t *testing.T) {
	t.Parallel()
	tables := NewTables()
	for bit := range uint32(2) {
		c, last := freshChance, uint32(1<<15)
		for n := range 10000 {
			c.update(aim(bit), &tables.rates)
			p := c.p16()
			if bit == 0 {
				p = 65535 - p
			}
			if p < last || p > 65535 {
				t.Fatalf("after %d times %d the chance falls from %d to %d", n, bit, last, p)
			}
			if last = p; c&seenMask > chanceLimit {
				t.Fatalf("an estimate has seen %d bits", c&seenMask)
			}
		}
		if last < 65000 {
			t.Errorf("after ten thousand times %d the chance is %d/65536", bit, last)
		}
	}
}

// Figures of all lengths come back, with any number of groups of bits in contexts; where they are few of many possible ones, the more
// groups are in contexts the less they need.
func TestFigures(t *testing.T) {
	tables, r, last := NewTables(), rand.New(rand.NewPCG(5, 6)), 1<<30
	few := make([]uint64, 16)
	for i := range few {
		few[i] = 1<<13 | r.Uint64N(1<<13)
	}
	for groups := uint32(1); groups <= 4; groups++ {
		var values []uint64
		for i := range uint64(2000) {
			values = append(values, r.Uint64()>>(i%65), ^uint64(0)>>(i%65))
		}
		for range 4000 {
			values = append(values, few[r.IntN(len(few))])
		}
		var c Coder
		c.StartEncoding()
		context := func(i int) *[Experts]uint32 { return &[Experts]uint32{1, 2: uint32(i / 4000)} }
		n := NewFigures(tables, 16, groups)
		first := 0
		for i, v := range values {
			if n.Code(&c, v, context(i), uint32(i)%Choices); i == 3999 {
				first = c.Len()
			}
		}
		block := c.Finish()
		if size := len(block) - first; size >= last {
			t.Errorf("%d groups: %d bytes, as many as with one less", groups, size)
		} else {
			last = size
		}
		c.StartDecoding(block)
		n = NewFigures(tables, 16, groups)
		for i, v := range values {
			if got := n.Code(&c, 0, context(i), uint32(i)%Choices); got != v {
				t.Fatalf("%d groups: value %d is %d, not %d", groups, i, got, v)
			}
		}
	}
}
