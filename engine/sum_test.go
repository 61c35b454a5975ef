package engine

import (
	"math/bits"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// TestSumCombinesNeighbours: whatever the order in which parts come, they are combined in their
// order, and no part is gone through more often than the logarithm of their number.
func TestSumCombinesNeighbours(t *testing.T) {
	for _, n := range []int{1, 2, 3, 7, 64, 1000} {
		want, work := new(strings.Builder), 0
		s := &sum[string]{n: n, waiting: make(map[node]string), combine: func(a, b string) string {
			work += len(a) + len(b)
			return a + b
		}}
		for i := range n {
			want.WriteString(strconv.Itoa(i) + ",")
		}
		for i := range n {
			k := i * 389 % n // 389 is prime to all n
			s.add(k, strconv.Itoa(k)+",")
		}
		if s.total != want.String() || len(s.waiting) > 0 {
			t.Errorf("%d parts: %q, %d wait", n, s.total, len(s.waiting))
		}
		if most := want.Len() * bits.Len(uint(n)); work > most {
			t.Errorf("%d parts: %d bytes were gone through, want at most %d", n, work, most)
		}
	}
}

// TestSwapOfManySources: what an exchange needs does not grow with sources that emit nothing,
// and what many emit arrives once, in order of sources.
func TestSwapOfManySources(t *testing.T) {
	const sources, keys = 100_000, 64
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	var lock sync.Mutex
	got := make(map[int][]int)
	err := Swap(t.Context(), 2, Exchange[int]{Windows: 2, Sources: sources, Keys: keys,
		Emit: func(window, source int, rows [][]int) {
			if source%100 == 0 {
				key := source / 100 % keys
				rows[key] = append(rows[key], source+window)
			}
		},
		Take: func(window, key int, rows []int) {
			lock.Lock()
			defer lock.Unlock()
			got[key] = append(got[key], rows...)
		}})
	if err != nil {
		t.Fatal(err)
	}
	runtime.ReadMemStats(&after)
	if size := after.TotalAlloc - before.TotalAlloc; size > 16<<20 {
		t.Errorf("%d bytes were needed", size)
	}
	for key := range keys {
		var want []int
		for window := range 2 {
			for source := key * 100; source < sources; source += 100 * keys {
				want = append(want, source+window)
			}
		}
		if len(got[key]) != len(want) {
			t.Fatalf("key %d: %d rows, want %d", key, len(got[key]), len(want))
		}
		for i := range want {
			if got[key][i] != want[i] {
				t.Fatalf("key %d, row %d: %d, want %d", key, i, got[key][i], want[i])
			}
		}
	}
}
