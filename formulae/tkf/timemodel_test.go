package tkf

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"testing"

	"github.com/klauspost/compress/zstd"

	"tracekit/formulae/internal/coder"
	"tracekit/trace"
)

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
	var plain []byte
	for _, s := range steps {
		plain = binary.AppendUvarint(plain, s)
	}
	var out bytes.Buffer
	w, err := zstd.NewWriter(&out, zstd.WithEncoderLevel(zstd.SpeedBestCompression))
	if err != nil {
		t.Fatal(err)
	}
	w.Write(plain)
	w.Close()
	for _, deep := range []bool{false, true} {
		m := newTimeModel(coder.NewTables(), timeForm{deep: deep})
		var c coder.Coder
		c.StartEncoding()
		for i, s := range steps {
			m.code(&c, s, events[i], 0)
		}
		own := len(c.Finish())
		t.Logf("%d steps: own coder %.2f bits each, zstd of varints %.2f", n, 8*float64(own)/n, 8*float64(out.Len())/n)
		if own*5 > out.Len()*4 {
			t.Errorf("own coder %d bytes, zstd %d", own, out.Len())
		}
	}
}

// Steps in grains of a coarse clock cost what their multiples do, others cost no exactness, and a
// grain that holds no longer is given up.
func TestGrain(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	const n = 20_000
	for name, one := range map[string]struct {
		step func(i int) uint64
		most float64 // bits of a step
	}{
		"multiples": {func(int) uint64 { return 1000 * (50 + r.Uint64N(8)) }, 3.3},
		"few others": {func(i int) uint64 {
			if i%1000 == 7 {
				return ^uint64(0) - uint64(i)
			}
			return 1000 * (50 + r.Uint64N(8))
		}, 3.8},
		"given up": {func(int) uint64 { return 1024 + r.Uint64N(1024) }, 11.5},
	} {
		steps := make([]uint64, n)
		for i := range steps {
			steps[i] = one.step(i)
		}
		for _, form := range []timeForm{{fine: true, grain: 1000}, {grain: 1000, deep: true}} {
			m := newTimeModel(coder.NewTables(), form)
			var c coder.Coder
			c.StartEncoding()
			for _, s := range steps {
				m.code(&c, s, 1, 0)
			}
			block := c.Finish()
			if bits := 8 * float64(len(block)) / n; bits > one.most {
				t.Errorf("%s: %.2f bits a step, at most %.2f expected", name, bits, one.most)
			}
			if name == "given up" && m.grain != 0 {
				t.Errorf("%s: the grain is still %d", name, m.grain)
			}
			m = newTimeModel(coder.NewTables(), form)
			c.StartDecoding(block)
			for i, s := range steps {
				if got := m.code(&c, 0, 1, 0); got != s {
					t.Fatalf("%s: step %d is %d, not %d", name, i, got, s)
				}
			}
		}
	}
}

// Times of small traces are coded deep; those of large ones, or of many locations, are not.
func TestDeepTimes(t *testing.T) {
	for _, one := range []struct {
		locations int
		events    uint64
		deep      bool
	}{{0, 0, true}, {1, deepEvents - deepLocation, true}, {1, deepEvents, false}, {2, 1 << 63, false},
		{deepEvents/deepLocation + 1, 0, false}} {
		d := &trace.Defs{Locations: make([]trace.Location, one.locations)}
		for i := range d.Locations {
			d.Locations[i].Events = one.events
		}
		if deep := deepTimes(d); deep != one.deep {
			t.Errorf("%d locations of %d events: deep %v", one.locations, one.events, deep)
		}
	}
}
