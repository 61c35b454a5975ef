package formulae

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"testing"

	"github.com/klauspost/compress/zstd"
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
		run := func(c *coder) {
			for i, s := range steps {
				if got := c.bit(s.p, s.b&bit(!c.decoding)); got != s.b {
					t.Fatalf("bit %d of %d is %d", i, n, got)
				}
				v := c.direct(uint64(i)*0x9E3779B97F4A7C15>>40, uint(s.bits))
				if c.decoding && v != values[i] {
					t.Fatalf("%d bits at %d of %d: %x, want %x", s.bits, i, n, v, values[i])
				}
				values[i] = v
			}
		}
		var enc, dec coder
		enc.startEncoding()
		run(&enc)
		block := enc.finish()
		dec.startDecoding(block)
		run(&dec)
		if dec.overrun() {
			t.Error("the decoder believes that it read beyond the end")
		}
	}
}

func FuzzNumbers(f *testing.F) {
	f.Add([]byte{1, 2, 3, 255, 255, 255, 255, 255, 255, 255, 255}, true)
	f.Fuzz(func(t *testing.T, data []byte, fine bool) {
		tables := newTables()
		values := uvarints(string(data))
		if len(data) >= 8 {
			values = append(values, binary.LittleEndian.Uint64(data))
		}
		run := func(c *coder) []uint64 {
			m := newNumbers(tables, 12, fine)
			var out []uint64
			for i, v := range values {
				if c.decoding {
					v = 0
				}
				out = append(out, m.code(c, v, [contexts]uint32{1, uint32(i & 1), 7}))
			}
			return out
		}
		var enc, dec coder
		enc.startEncoding()
		run(&enc)
		dec.startDecoding(enc.finish())
		for i, v := range run(&dec) {
			if v != values[i] {
				t.Fatalf("value %d of %d is %d, want %d", i, len(values), v, values[i])
			}
		}
	})
}

// The context-mixing coder is worth its own code: on steps of time as they are found in
// traces (levels that alternate, with noise) it needs far less than zstd at its best.
func TestCoderAgainstZstd(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	const n = 50_000
	steps, events := make([]uint64, n), make([]uint32, n)
	for i := range steps {
		events[i] = uint32(i % 7)
		level := []float64{90, 300, 80, 5000, 120, 700, 95}[i%7]
		steps[i] = uint64(level * (1 + 0.1*r.ExpFloat64()))
	}
	m := newTimeModel(newTables(), false)
	var c coder
	c.startEncoding()
	var plain []byte
	for i, s := range steps {
		m.code(&c, s, events[i], 0)
		plain = binary.AppendUvarint(plain, s)
	}
	own := len(c.finish())
	var out bytes.Buffer
	w, err := zstd.NewWriter(&out, zstd.WithEncoderLevel(zstd.SpeedBestCompression))
	if err != nil {
		t.Fatal(err)
	}
	w.Write(plain)
	w.Close()
	t.Logf("%d steps: own coder %.2f bits each, zstd of varints %.2f", n, 8*float64(own)/n, 8*float64(out.Len())/n)
	if own*5 > out.Len()*4 {
		t.Errorf("own coder %d bytes, zstd %d", own, out.Len())
	}
}
