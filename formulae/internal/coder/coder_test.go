package coder

import (
	"encoding/binary"
	"math/rand/v2"
	"testing"
)

// Everything that is coded comes back, whatever the probabilities say.
func TestCoder(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for range 200 {
		n := r.IntN(500)
		type step struct{ p, b, bits uint32 }
		steps := make([]step, n)
		for i := range steps {
			steps[i] = step{1 + r.Uint32N(65535), r.Uint32N(2), r.Uint32N(17)}
			if r.IntN(3) == 0 {
				steps[i].p = []uint32{1, 65535}[r.IntN(2)]
			}
		}
		values := make([]uint64, n)
		run := func(c *Coder) {
			for i, s := range steps {
				if got := c.bit(s.p, s.b&Bit(!c.decoding)); got != s.b {
					t.Fatalf("bit %d of %d is %d", i, n, got)
				}
				v := c.direct(uint64(i)*0x9E3779B97F4A7C15>>40, uint(s.bits))
				if c.decoding && v != values[i] {
					t.Fatalf("%d bits at %d of %d: %x, want %x", s.bits, i, n, v, values[i])
				}
				values[i] = v
			}
		}
		var enc, dec Coder
		enc.StartEncoding()
		run(&enc)
		block := enc.Finish()
		dec.StartDecoding(block)
		run(&dec)
		if dec.Overrun() {
			t.Error("the decoder believes that it read beyond the end")
		}
	}
}

func FuzzNumbers(f *testing.F) {
	f.Add([]byte{1, 2, 3, 255, 255, 255, 255, 255, 255, 255, 255}, true)
	f.Fuzz(func(t *testing.T, data []byte, fine bool) {
		tables := NewTables()
		var values []uint64
		for b := data; len(b) > 0; {
			v, n := binary.Uvarint(b)
			if n <= 0 {
				break
			}
			values, b = append(values, v), b[n:]
		}
		if len(data) >= 8 {
			values = append(values, binary.LittleEndian.Uint64(data))
		}
		run := func(c *Coder) []uint64 {
			m := NewNumbers(tables, 12, fine)
			m.Depth = uint32(len(data) % (mostDepth + 1))
			var out []uint64
			for i, v := range values {
				if c.decoding {
					v = 0
				}
				out = append(out, m.Code(c, v, [Contexts]uint32{1, uint32(i & 1), 7}))
			}
			return out
		}
		var enc, dec Coder
		enc.StartEncoding()
		run(&enc)
		dec.StartDecoding(enc.Finish())
		for i, v := range run(&dec) {
			if v != values[i] {
				t.Fatalf("value %d of %d is %d, want %d", i, len(values), v, values[i])
			}
		}
	})
}
