package waits

import (
	"math/rand/v2"
	"slices"
	"testing"

	"tracekit/merge"
	"tracekit/samples"
	"tracekit/stats/scope"
	"tracekit/trace"
	"tracekit/trace/tracetest"
)

// TestIncomplete: the calls of which a record is missing are those that a walk over all calls and messages finds, whatever is missing.
func TestIncomplete(t *testing.T) {
	whole, part := 0, 0
	for seed := range uint64(120) {
		program := []string{"halo", "masterworker", "collectives", "ring"}[seed%4]
		m, _, err := samples.InMemory(t.Context(), samples.Options{Program: program, Ranks: 3 + int(seed%3), Iterations: 1 + int(seed/4%3),
			Seed: seed})
		if err != nil {
			t.Fatal(err)
		}
		src := &m.MemorySource
		if seed%10 > 0 {
			src = tracetest.Damaged(src, rand.New(rand.NewPCG(seed, 1)), false)
		}
		tr, err := merge.Merge(t.Context(), src, merge.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer tr.Store.Close()
		s, err := scope.New(tr, scope.Selection{})
		if err != nil {
			t.Fatal(err)
		}
		w := NewFinder(tr, &s, 2, 1)
		if err := w.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		found, err := w.Incomplete(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for l, got := range found {
			var all, want []Lack
			for _, rows := range got.Rows {
				all = append(all, rows...)
			}
			if tr.Calls[l].Len() > 0 && tr.Defs.Locations[l].Kind == trace.LocationCPUThread {
				for _, rows := range lacking(tr, trace.LocationID(l)).Rows {
					want = append(want, rows...)
				}
			}
			if !slices.Equal(all, want) {
				t.Errorf("%s, seed %d, location %d: %v, want %v", program, seed, l, all, want)
			}
			if w.lacking[l] {
				part++
			} else {
				whole++
			}
		}
	}
	if whole < 20 || part < 20 {
		t.Errorf("of %d locations nothing is missing, of %d something may be", whole, part)
	}
}
