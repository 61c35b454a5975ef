package analysis_test

import (
	"math"
	"path/filepath"
	"testing"

	"tracekit/merge"
	"tracekit/readers"
	"tracekit/stats/analysis"
	"tracekit/stats/statstest"
	"tracekit/topology"
)

// TestByRank: metrics of ranks add up to those of the analysis, and hops are those that package topology finds.
func TestByRank(t *testing.T) {
	src, err := readers.Open(t.Context(), filepath.Join("..", "..", "samples", "archives", "torus-6"), readers.OpenOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	tr, a := statstest.Analyzed(t, src, merge.Options{}, analysis.Options{})
	top := topology.OfTrace(tr.Defs, "")
	of := func(metric string) []float64 {
		values, err := a.ByRank(tr, metric, top.Hops)
		if err != nil || len(values) != 6 {
			t.Fatalf("%s: %v, %v", metric, values, err)
		}
		return values
	}
	averages, err := topology.Averages(t.Context(), tr, top, 1)
	if err != nil {
		t.Fatal(err)
	}
	var waits, want float64
	for r, average := range averages {
		if far := of(analysis.Hops)[r]; math.Abs(far-*average.Torus) > 1e-12 {
			t.Errorf("rank %d: %f hops, want %f", r, far, *average.Torus)
		}
		if bytes := of(analysis.Bytes)[r]; bytes != float64(average.Bytes) {
			t.Errorf("rank %d sends %f bytes, want %d", r, bytes, average.Bytes)
		}
		if useful := of(analysis.Useful)[r]; useful != float64(a.Efficiency.UsefulNs[r]) {
			t.Errorf("rank %d has %f ns of useful time", r, useful)
		}
		waits += of(analysis.Waits)[r]
	}
	for _, l := range tr.World {
		for i := range a.Waits[l].Len() {
			want += float64(a.Waits[l].At(i).Time)
		}
	}
	if waits == 0 || math.Abs(waits-want) > 6 {
		t.Errorf("ranks wait %f ns, calls %f", waits, want)
	}
	if _, err := a.ByRank(tr, "luck", top.Hops); err == nil {
		t.Error("a metric that is none")
	}
}
