package whatif

import (
	"context"
	"fmt"
	"testing"

	"tracekit/merge"
	"tracekit/samples"
	"tracekit/trace"
)

// named is the place of all call paths that end in a region of one of the names.
func named(m *Model, names ...string) Place {
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

// work are the regions in which generated programs compute.
var work = []string{"interior", "compute", "block", "smooth", "task", "boundary"}

func TestTryNet(t *testing.T) {
	for _, p := range samples.Programs() {
		for _, bytes := range []int64{64, 1024, 8000, 20000, 200000} {
			o := samples.Options{Program: p.Name, Ranks: 12, Iterations: 15, Seed: 3, Bytes: bytes}
			m := modelled(t, generated(t, o), merge.Options{})
			s := ""
			for _, n := range []*samples.Network{{}, {Latency: 15000, BytesPerTick: 4}, {Latency: 500, BytesPerTick: 1}, {Latency: 1500, BytesPerTick: 40}} {
				o.Network = n
				c := m.Network(float64(n.Latency), float64(n.BytesPerTick)*1e9)
				if n.Latency == 0 {
					c = IdealNetwork()
				}
				want := runTime(t, modelled(t, generated(t, o), merge.Options{}))
				pp, err := m.Predict(context.Background(), c)
				if err != nil { s += "refused "; continue }
				got := pp.RunTime
				s += fmt.Sprintf("%d/%d=%.2f%% ", got, want, 100*float64(got-want)/float64(want))
			}
			t.Logf("%s %d: %d: %s", p.Name, bytes, m.ns(m.last-m.first), s)
		}
	}
}

func TestTryBal(t *testing.T) {
	for _, p := range samples.Programs() {
		for _, bytes := range []int64{1024, 20000} {
			o := samples.Options{Program: p.Name, Ranks: 8, Iterations: 15, Seed: 3, Bytes: bytes, Steady: true, Compute: 20000}
			want := runTime(t, modelled(t, generated(t, o), merge.Options{}))
			o.Compute, o.Plant.Imbalance = 10000, 80000
			m := modelled(t, generated(t, o), merge.Options{})
			o.Plant.Imbalance = 0
			want2 := runTime(t, modelled(t, generated(t, o), merge.Options{}))
			o.Compute = 5000
			half := runTime(t, modelled(t, generated(t, o), merge.Options{}))
			m1 := modelled(t, generated(t, o), merge.Options{})
			t.Logf("%s %d: balance %d/%d, scale %d/%d speed %d/%d", p.Name, bytes, predicted(t, m, Balance(named(m, work...))), want, predicted(t, m, Scale(named(m, work...), 1.0/9, 7)), want2,
				predicted(t, m1, RankSpeed(.5)), want2)
			_ = half
		}
	}
}

func predicted(t testing.TB, m *Model, changes ...Change) int64 {
	t.Helper()
	p, err := m.Predict(context.Background(), changes...)
	if err != nil {
		t.Fatal(err)
	}
	return p.RunTime
}

func runTime(t testing.TB, m *Model) int64 { return predicted(t, m) }
