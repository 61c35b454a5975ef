package compare_test

import (
	"context"
	"fmt"
	"testing"

	"tracekit/merge"
	"tracekit/samples"
	"tracekit/stats"
	"tracekit/stats/compare"
	"tracekit/trace"
)

// sampled generates a run in memory and takes its sample.
func sampled(t testing.TB, o samples.Options) *compare.Sample {
	t.Helper()
	ctx := context.Background()
	var m *samples.Memory
	if _, err := samples.Generate(ctx, o, func(info trace.Info, defs *trace.Defs) (trace.Sink, error) {
		m = samples.NewMemory(info, defs)
		return m, nil
	}); err != nil {
		t.Fatal(err)
	}
	tr, err := merge.Merge(ctx, m, merge.Options{})
	if err != nil {
		t.Fatal(err)
	}
	a, err := stats.Analyze(ctx, tr, stats.Options{Top: 1})
	if err != nil {
		t.Fatal(err)
	}
	s, err := compare.Take(ctx, tr, a, 0)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// A pair is two runs that differ in their seeds and, in one region, in what is planted.
type pair struct {
	program string
	a, b    samples.Plant
	places  []string // of which one is to come first; with nil, nothing has changed
}

// planted are five programs with eight changes each.
func planted() (out []pair) {
	work := map[string][]string{"ring": {"compute"}, "halo": {"interior", "boundary"}, "sweep": {"block"}, "multigrid": {"smooth"}, "masterworker": {"task"}}
	for _, program := range []string{"ring", "halo", "sweep", "multigrid", "masterworker"} {
		episode := []string{"compute"}
		out = append(out,
			pair{program, samples.Plant{}, samples.Plant{Imbalance: 3000}, work[program]},
			pair{program, samples.Plant{Imbalance: 4000}, samples.Plant{Imbalance: 2000}, work[program]},
			pair{program, samples.Plant{}, samples.Plant{LateSender: 20_000}, episode},
			pair{program, samples.Plant{LateSender: 10_000}, samples.Plant{LateSender: 12_000}, episode},
			pair{program, samples.Plant{LateReceiver: 10_000}, samples.Plant{LateReceiver: 14_000}, episode},
			pair{program, samples.Plant{EarlyReduce: 10_000}, samples.Plant{EarlyReduce: 11_000}, episode},
			pair{program, samples.Plant{LateBroadcast: 10_000}, samples.Plant{LateBroadcast: 13_000}, episode},
			pair{program, samples.Plant{CriticalPath: 10_000}, samples.Plant{CriticalPath: 8_000}, episode},
		)
	}
	return out
}

func (p pair) options(seed uint64, plant samples.Plant) samples.Options {
	return samples.Options{Program: p.program, Ranks: 6, Iterations: 40, Seed: seed, Plant: plant}
}

// TestPlantedChanges states that of 40 changes of one region each is found and comes first.
func TestPlantedChanges(t *testing.T) {
	found := 0
	for i, p := range planted() {
		c := compare.Of([]*compare.Sample{sampled(t, p.options(uint64(2*i+1), p.a))}, []*compare.Sample{sampled(t, p.options(uint64(2*i+2), p.b))})
		first := c.Changes[0]
		ok := first.Significant != nil && *first.Significant && (string(first.Region) == p.places[0] || string(first.Region) == p.places[len(p.places)-1]) && first.Operation == ""
		if ok {
			found++
		} else {
			t.Logf("pair %d, %s %+v -> %+v: first is %s %s, %s", i, p.program, p.a, p.b, first.Kind, first.Region, first.Operation)
			for _, x := range c.Changes[:5] {
				t.Logf("   %s %s %s %g %g w=%g", x.Kind, x.Region, x.Operation, x.A, x.B, x.WeightNs)
			}
		}
	}
	if found < 40 {
		t.Errorf("the change comes first in %d of 40 pairs", found)
	}
}

// TestEqualPrograms states that of 40 pairs which differ in their seeds alone 38 have no significant change.
func TestEqualPrograms(t *testing.T) {
	quiet := 0
	for i, p := range planted() {
		c := compare.Of([]*compare.Sample{sampled(t, p.options(uint64(2*i+1), p.a))}, []*compare.Sample{sampled(t, p.options(uint64(2*i+2), p.a))})
		if c.Significant == 0 {
			quiet++
		} else {
			t.Log(fmt.Sprintf("pair %d, %s: ", i, p.program), c.Changes[0].Kind, c.Changes[0].Region, c.Changes[0].Operation, c.Changes[0].A, c.Changes[0].B, *c.Changes[0].PValue)
		}
	}
	if quiet < 38 {
		t.Errorf("%d of 40 pairs have no significant change, want 38", quiet)
	}
}
