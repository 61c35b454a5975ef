package whatif

import (
	"slices"
	"strings"
	"testing"

	"tracekit/merge"
	"tracekit/stats/analysis"
	"tracekit/stats/statstest"
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
		m, rows := gainsOf(t, strings.ReplaceAll(`
process 0 host
location 0 thread process=0 kind=1 rank=0
  0 Enter main ; 10 Enter prepare ; 30 Leave prepare ; 30 Enter FUNCTION ; 90 Leave FUNCTION ; 100 Leave main
`, "FUNCTION", function))
		has := func(place string) bool {
			return slices.ContainsFunc(rows, func(g Gain) bool { return g.Place == place })
		}
		if m.WaitsForDevices() != waits || has(function) == waits || !has("prepare") {
			t.Errorf("%s: waits for devices %v, gains %v", function, m.WaitsForDevices(), rows)
		}
	}
}

// TestEnough: half of the work of rank 0 lets rank 1 be the last, so that less of it gains no more.
func TestEnough(t *testing.T) {
	_, rows := gainsOf(t, `
location 0 rank0 rank=0
  0 Enter work ; 100 Enter MPI_Barrier ; 100 MpiCollectiveBegin ; 110 MpiCollectiveEnd Barrier root=none ; 110 Leave MPI_Barrier
  110 Leave work
location 1 rank1 rank=1
  0 Enter other ; 80 Enter MPI_Barrier ; 80 MpiCollectiveBegin ; 110 MpiCollectiveEnd Barrier root=none ; 110 Leave MPI_Barrier
  110 Leave other
`)
	got := make(map[string]int64)
	for _, g := range rows {
		got[g.Place+" "+g.Change] = g.GainNs
	}
	if _, both := got["work scale 0"]; both || got["work scale 0.5"] != 20 {
		t.Errorf("%v", got)
	}
}

// TestOneCallerIsEnough: nearly all of what two regions call is called by one of them, so that the
// place as a whole is no row of its own.
func TestOneCallerIsEnough(t *testing.T) {
	_, rows := gainsOf(t, `
location 0 rank0 rank=0
  0 Enter main ; 10 Enter often ; 20 Enter work ; 1020 Leave work ; 1030 Leave often
  1030 Enter once ; 1031 Enter work ; 1033 Leave work ; 1034 Leave once ; 1050 Leave main
`)
	has := func(place string) bool {
		return slices.ContainsFunc(rows, func(g Gain) bool { return g.Place == place && g.GainNs > 0 })
	}
	if has("work") || !has("work@often") || has("work@once") {
		t.Errorf("%v", rows)
	}
}

func gainsOf(t *testing.T, text string) (*Model, []Gain) {
	tr, a := statstest.Analyzed(t, tracetest.MustParse(t, text), merge.Options{Clock: merge.ClockNone}, analysis.Options{})
	m, err := New(t.Context(), tr, a, 1)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(m.Release)
	rows, err := m.Gains(t.Context(), a)
	if err != nil {
		t.Fatal(err)
	}
	return m, rows
}
