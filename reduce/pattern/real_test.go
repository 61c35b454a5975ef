package pattern_test

import (
	"path/filepath"
	"testing"

	"tracekit/merge"
	"tracekit/readers"
	"tracekit/reduce/pattern"
	"tracekit/stats/statstest"
	"tracekit/trace"
	"tracekit/trace/tracetest"
)

// real returns a real trace, reconciled, and skips the test where it is not.
func real(t testing.TB, name string) *trace.Trace {
	t.Helper()
	src, err := readers.Open(t.Context(), tracetest.Shared(t, name), readers.OpenOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { src.Close() })
	return statstest.Merged(t, src, merge.Options{})
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
