package whatif

import (
	"slices"
	"strings"
	"testing"

	"tracekit/merge"
	"tracekit/stats"
	"tracekit/trace/tracetest"
)

// TestGainsWithDevices: a host cannot take less time to wait for its device, which is not replayed, so
// that no gain of that is listed; what else the host does is.
func TestGainsWithDevices(t *testing.T) {
	for _, waits := range []bool{true, false} {
		function := "hipLaunchKernel"
		if waits {
			function = "hipDeviceSynchronize"
		}
		src := tracetest.MustParse(t, strings.ReplaceAll(`
process 0 host
location 0 thread process=0 kind=1 rank=0
  0 Enter main ; 10 Enter prepare ; 30 Leave prepare ; 30 Enter FUNCTION ; 90 Leave FUNCTION ; 100 Leave main
`, "FUNCTION", function))
		tr, err := merge.Merge(t.Context(), src, merge.Options{Clock: merge.ClockNone})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { tr.Store.Close() })
		a, err := stats.Analyze(t.Context(), tr, stats.Options{})
		if err != nil {
			t.Fatal(err)
		}
		m, err := New(t.Context(), tr, a, 1)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(m.Release)
		rows, err := m.Gains(t.Context(), a)
		if err != nil {
			t.Fatal(err)
		}
		has := func(place string) bool {
			return slices.ContainsFunc(rows, func(g Gain) bool { return g.Place == place })
		}
		if m.WaitsForDevices() != waits || has(function) == waits || !has("prepare") {
			t.Errorf("%s: waits for devices %v, gains %v", function, m.WaitsForDevices(), rows)
		}
	}
}
