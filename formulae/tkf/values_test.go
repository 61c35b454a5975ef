package tkf

import (
	"bytes"
	"math"
	"math/rand/v2"
	"testing"

	"tracekit/formulae/internal/coder"
	"tracekit/formulae/internal/symbols"
	"tracekit/trace"
)

// oneSymbol returns a table with one symbol.
func oneSymbol() *symbols.Table {
	rows := symbols.Rows{Table: symbols.NewTable()}
	b := &trace.Batch{}
	b.AddFlow(1, trace.KindEnter, 0)
	for seq, row := range b.Events {
		rows.Read(b, seq, row, 0, false)
	}
	return rows.Table
}

// Values come back as they were, in every version, and what a rule makes of them costs little.
func TestValues(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	const n = 4000
	units := 1e12
	count := func(unit float64) uint64 { // a counter of units that are no whole numbers
		units += 32000 + float64(r.IntN(1000))
		return uint64(units * unit)
	}
	for name, one := range map[string]struct {
		value func(i int) uint64
		most  float64 // bits of a value
	}{
		"grows":       {func(i int) uint64 { return 5e9 + 37*uint64(i) }, 0.2},
		"by symbols":  {func(i int) uint64 { return []uint64{139920685232876, 93984374240960, 7}[i%3] }, 0.3},
		"grains":      {func(int) uint64 { return 1e6 * (300 + r.Uint64N(16)) }, 6},
		"quanta":      {func(int) uint64 { return count(15.3) }, 13.4},
		"large ones":  {func(int) uint64 { return count(625.0 / 12) }, 13.4},
		"lost ones":   {func(i int) uint64 { return count(15.3) + r.Uint64N(16)*uint64(i/(n/2)) }, 14.4},
		"alternating": {func(i int) uint64 { return uint64(i%2) << 62 }, 0.4},
		"noise":       {func(int) uint64 { return r.Uint64() }, 68},
		"extremes":    {func(int) uint64 { return []uint64{0, 1, 1 << 63, ^uint64(0), 1 << 62}[r.IntN(5)] }, 14},
	} {
		values, recent := make([]uint64, n), make([][2]uint32, n)
		for i := range values {
			values[i], recent[i] = one.value(i), [2]uint32{uint32(i % 3), uint32(i % 3)}
		}
		table := oneSymbol()
		at := func(r [2]uint32) *valueContext {
			return &valueContext{table: table, recent: r, elapsed: 100, rolling: r, step: 100}
		}
		for version := byte(versionFormulae); version <= versionLast; version++ {
			m := newValueCoder(coder.NewTables(), version)
			var c coder.Coder
			c.StartEncoding()
			for i, v := range values {
				m.code(&c, at(recent[i]), []uint64{v, v})
			}
			block := c.Finish()
			if bits := 4 * float64(len(block)) / n; version == versionLast && bits > one.most {
				t.Errorf("%s: %.2f bits a value, at most %.2f expected", name, bits, one.most)
			}
			m = newValueCoder(coder.NewTables(), version)
			c.StartDecoding(block)
			for i, v := range values {
				got := []uint64{0, 0}
				if m.code(&c, at(recent[i]), got); got[0] != v || got[1] != v {
					t.Fatalf("%s, version %d: value %d is %d, not %d", name, version, i, got, v)
				}
			}
		}
	}
}

// A model that is made anew in the memory of another codes as a new one does, whatever the other one has learned.
func TestModelsInUsedMemory(t *testing.T) {
	prior := valueModels{tables: coder.NewTables(), version: versionLast}
	table := oneSymbol()
	press := func(m valueCoder, from uint64) []byte {
		var c coder.Coder
		c.StartEncoding()
		x := valueContext{table: table}
		for i := range uint64(4000) {
			x.pass(i%7, table.Hash(0))
			m.code(&c, &x, []uint64{from + i*i%977, i << 50})
		}
		return c.Finish()
	}
	used := prior.get()
	want := press(used, 0)
	for range 3 {
		press(used, 1<<40)
		used.(*valueModel).prefixes = []uint64{1}
		prior.prior.copyTo(used.(*valueModel))
		if got := press(used, 0); !bytes.Equal(got, want) {
			t.Fatalf("%d bytes, a new model codes the same values in %d", len(got), len(want))
		}
	}
}

// Whether values are scattered decides only where hashes are looked for; counters and real numbers are not.
func TestScatteredValues(t *testing.T) {
	var counters, reals, hashes []uint64
	for i := range uint64(nameRun) {
		counters = append(counters, 1<<46+i*490_000)
		reals = append(reals, math.Float64bits(40+float64(i)/4))
		hashes = append(hashes, hashed(0xcbf29ce484222325, i))
	}
	if scattered(counters) || scattered(reals) || !scattered(hashes) {
		t.Errorf("counters %t, real numbers %t, hashes %t", scattered(counters), scattered(reals), scattered(hashes))
	}
}
