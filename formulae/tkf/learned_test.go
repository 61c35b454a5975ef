package tkf_test

import (
	"path/filepath"
	"testing"

	"tracekit/engine"
	"tracekit/formulae"
)

// Most sequences of real traces are learned with the paper's memory, and all but very few with
// more. The log says for each archive what is not learned.
func TestLearnedShareOfRealTraces(t *testing.T) {
	terms := []int{18, 64}
	var all [2]formulae.Share
	for _, path := range append(archives(t, "../../samples/archives"), archives(t, shared(t))...) {
		rows, err := formulae.LearnedByMemory(t.Context(), openTrace(t, path), terms, engine.Options{})
		if err != nil {
			t.Fatal(err)
		}
		for i, r := range rows {
			var here formulae.Share
			for _, s := range r.All() {
				here.Constructs += s.Constructs
				here.Learned += s.Learned
				if s.Learned < s.Constructs {
					t.Logf("%-22s %2d terms %-15s %4d of %4d learned, dynamic %.3f", filepath.Base(filepath.Dir(path)), r.Terms, s.Name, s.Learned, s.Constructs, s.Dynamic)
				}
			}
			t.Logf("%-22s %2d terms %-15s %4d of %4d learned: %.3f", filepath.Base(filepath.Dir(path)), r.Terms, "all",
				here.Learned, here.Constructs, float64(here.Learned)/float64(max(here.Constructs, 1)))
			all[i].Constructs += here.Constructs
			all[i].Learned += here.Learned
		}
	}
	for i, least := range []float64{0.98, 0.999} {
		share := float64(all[i].Learned) / float64(all[i].Constructs)
		t.Logf("%d of %d constructs with %d terms: %.3f", all[i].Learned, all[i].Constructs, terms[i], share)
		if share < least {
			t.Errorf("%.3f of all constructs learned with %d terms, want %.3f", share, terms[i], least)
		}
	}
}
