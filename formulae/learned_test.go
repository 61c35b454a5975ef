package formulae_test

import (
	"path/filepath"
	"testing"

	"tracekit/engine"
	"tracekit/formulae"
)

// Most sequences of real traces are learned with the paper's memory, and no fewer with more.
func TestLearnedShareOfRealTraces(t *testing.T) {
	var constructs, learned [2]uint64
	for _, path := range append(archives(t, "../samples/archives"), archives(t, shared(t))...) {
		rows, err := formulae.LearnedByMemory(t.Context(), openTrace(t, path), []int{18, 64}, engine.Options{})
		if err != nil {
			t.Fatal(err)
		}
		for i, r := range rows {
			for _, s := range r.All() {
				constructs[i] += s.Constructs
				learned[i] += s.Learned
				if s.Learned < s.Constructs {
					t.Logf("%-22s %2d terms %-15s %4d of %4d learned, dynamic %.3f", filepath.Base(filepath.Dir(path)), r.Terms, s.Name, s.Learned, s.Constructs, s.Dynamic)
				}
			}
		}
	}
	for i, least := range []float64{0.92, 0.97} {
		share := float64(learned[i]) / float64(constructs[i])
		t.Logf("%d of %d constructs: %.3f", learned[i], constructs[i], share)
		if share < least {
			t.Errorf("%.3f of all constructs learned, want %.2f", share, least)
		}
	}
}
