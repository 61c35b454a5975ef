package reduce

import (
	"math/rand/v2"
	"slices"
	"testing"

	"tracekit/spill"
)

// TestCuts states that settled cuts and unions of them cut exactly what was added, in spans
// that do not touch.
func TestCuts(t *testing.T) {
	const records = 60
	for seed := range uint64(300) {
		rng := rand.New(rand.NewPCG(seed, 1))
		store := spill.NewStore(1<<20, t.TempDir())
		var all []*Cuts
		var want [records]bool
		for range 1 + rng.IntN(3) {
			c, to := NewCuts(store, 1), uint64(0)
			for range rng.IntN(8) {
				to += uint64(rng.IntN(8))
				from := uint64(rng.IntN(int(to) + 1))
				c.Add(0, from, to)
				for i := from; i < to; i++ {
					want[i] = true
				}
			}
			c.Settle(0)
			all = append(all, c)
		}
		joined, last, n := union(all...), int64(-1), uint64(0)
		cut := joined.cursor(0)
		for i, w := range want {
			if got := cut.cuts(uint64(i)); got != w {
				t.Fatalf("seed %d: record %d cut: %t, want %t", seed, i, got, w)
			}
			if w {
				n++
			}
		}
		if got := joined.Records(0, records); got != n {
			t.Errorf("seed %d: %d records are cut, want %d", seed, got, n)
		}
		for s := range joined.Spans(0) {
			if int64(s.From) <= last {
				t.Errorf("seed %d: spans %v touch", seed, slices.Collect(joined.Spans(0)))
			}
			last = int64(s.To)
		}
		store.Close()
	}
}
