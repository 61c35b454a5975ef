package pattern_test

import (
	"os"
	"path/filepath"
	"testing"

	"tracekit/merge"
	"tracekit/readers"
	"tracekit/reduce/pattern"
	"tracekit/trace"
)

// real returns a real trace, reconciled, and skips the test where it is not.
func real(t testing.TB, name string) *trace.Trace {
	t.Helper()
	root := os.Getenv("TRACEKIT_SHARED")
	if root == "" {
		root = filepath.Join("..", "..", "..", "shared")
	}
	path := filepath.Join(root, "traces", name)
	if _, err := os.Stat(path); err != nil {
		t.Skipf("the real trace %s is not there (set TRACEKIT_SHARED to the folder that has traces/)", name)
	}
	src, err := readers.Open(t.Context(), path, readers.OpenOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { src.Close() })
	m, err := merge.Merge(t.Context(), src, merge.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.Store.Close() })
	return m
}

// TestReal states that what is cut of real traces comes again, and that the rule finds what
// repeats in them, whatever their ranks count before and behind.
func TestReal(t *testing.T) {
	for name, share := range map[string]float64{
		"otf2/npb-lu-S-4": 0.85, "otf2/npb-mg-W-8": 0.75, "otf2/npb-cg-W-8-run1": 0.99, "otf2/npb-bt-S-16": 0.95,
		"otf2/lulesh-8x2": 0.75, "otf2/npb-mg-S-4-user-run1": 0.25, "otf2/npb-ft-W-4": 0, "paraver/npb_cg_S_16": 0.9,
	} {
		t.Run(filepath.Base(name), func(t *testing.T) {
			m := real(t, name)
			r, _ := cut(t, m, pattern.Options{})
			if got := float64(r.Events) / float64(events(m)); got < share {
				t.Errorf("%.3f of the records are cut, want %.2f or more", got, share)
			}
			checkRegenerated(t, m)
		})
	}
}
