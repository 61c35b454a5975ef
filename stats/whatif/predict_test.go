package whatif

import (
	"context"
	"testing"

	"tracekit/merge"
	"tracekit/samples"
	"tracekit/trace"
)

// region is the place of all call paths that end in a region of the name.
func region(m *Model, names ...string) Place {
	return func(p trace.PathID) bool {
		if int(p) >= len(m.t.Tree.Nodes) {
			return false
		}
		for _, name := range names {
			if m.t.Defs.RegionLabel(m.t.Tree.Nodes[p].Region) == name {
				return true
			}
		}
		return false
	}
}
func TestTry(t *testing.T) {
	for _, prog := range []string{"ring", "halo", "sweep", "multigrid", "masterworker", "collectives", "requests"} {
		for _, bytes := range []int64{1024, 20000} {
			o := samples.Options{Program: prog, Ranks: 16, Iterations: 20, Seed: 3, Compute: 9, Bytes: bytes}
			want := modelled(t, generated(t, o), merge.Options{}).result0(t)
			o.Plant.Imbalance = 20000
			m := modelled(t, generated(t, o), merge.Options{})
			p, err := m.Predict(context.Background(), Scale(region(m, "interior", "compute", "block", "smooth", "task"), 9.0/20009, 15), Scale(region(m, "boundary"), 0.0/2000, 15))
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("%s %d: baseline %d predicted %d want %d: %.2f%%", prog, bytes, p.Baseline, p.RunTime, want, 100*float64(p.RunTime-want)/float64(want))
		}
	}
}
func (m *Model) result0(t *testing.T) int64 {
	p, err := m.Predict(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return p.RunTime
}
