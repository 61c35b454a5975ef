package diagnosis_test

import (
	"math"
	"slices"
	"testing"

	"tracekit/merge"
	"tracekit/samples"
	"tracekit/stats"
	"tracekit/stats/diagnosis"
	"tracekit/trace"
)

// diagnosed generates a program and finds its causes.
func diagnosed(t *testing.T, o samples.Options) ([]stats.Cause, *stats.Analysis) {
	t.Helper()
	var src *samples.Memory
	if _, err := samples.Generate(t.Context(), o, func(info trace.Info, defs *trace.Defs) (trace.Sink, error) {
		src = samples.NewMemory(info, defs)
		return src, nil
	}); err != nil {
		t.Fatal(err)
	}
	tr, err := merge.Merge(t.Context(), src, merge.Options{Clock: merge.ClockNone})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { tr.Store.Close() })
	a, err := stats.Analyze(t.Context(), tr, stats.Options{Overhead: &stats.OverheadOptions{PerCall: true}})
	if err != nil {
		t.Fatal(err)
	}
	causes, err := diagnosis.Find(t.Context(), tr, a, 0)
	if err != nil {
		t.Fatal(err)
	}
	return causes, a
}

// TestPlanted: the first cause is the place and the ranks where a fault is planted, and what
// mending it gains is the difference from the run in which the fault is as good as nothing; of a
// reduce whose root comes early, from that in which the other ranks have 7/8 of their work, since
// the root could take its share. Two places cannot be mended one by one in the program, and gains
// of two do not add up.
func TestPlanted(t *testing.T) {
	for _, c := range []struct {
		name, program, region string
		kind                  stats.CauseKind
		ranks                 []uint32
		plant, without        samples.Plant
		margin                float64
	}{
		{"imbalance", "ring", "compute", stats.CauseImbalance, []uint32{7}, samples.Plant{Imbalance: 20_000}, samples.Plant{}, 0.01},
		{"imbalance of collectives", "collectives", "compute", stats.CauseImbalance, []uint32{7}, samples.Plant{Imbalance: 20_000}, samples.Plant{}, 0.01},
		{"imbalance of a wavefront", "sweep", "block", stats.CauseImbalance, []uint32{7}, samples.Plant{Imbalance: 20_000}, samples.Plant{}, 0.01},
		{"imbalance of tasks", "masterworker", "task", stats.CauseImbalance, []uint32{7}, samples.Plant{Imbalance: 20_000}, samples.Plant{}, 0.01},
		{"imbalance of requests", "requests", "compute", stats.CauseImbalance, []uint32{7}, samples.Plant{Imbalance: 20_000}, samples.Plant{}, 0.01},
		{"imbalance of two places", "halo", "interior", stats.CauseImbalance, []uint32{7}, samples.Plant{Imbalance: 20_000}, samples.Plant{Imbalance: 1}, 0.05},
		{"late sender", "halo", "compute", stats.CauseSerialization, everyone, samples.Plant{LateSender: 20_000}, samples.Plant{LateSender: 1}, 0.01},
		{"late sender before a wavefront", "sweep", "compute", stats.CauseSerialization, everyone, samples.Plant{LateSender: 20_000}, samples.Plant{LateSender: 1}, 0.01},
		{"late receiver", "halo", "compute", stats.CauseSerialization, everyone, samples.Plant{LateReceiver: 20_000}, samples.Plant{LateReceiver: 1}, 0.01},
		{"wrong order", "halo", "compute", stats.CauseSerialization, everyone, samples.Plant{WrongOrder: 20_000}, samples.Plant{WrongOrder: 1}, 0.01},
		{"early reduce", "halo", "compute", stats.CauseImbalance, everyone, samples.Plant{EarlyReduce: 20_000}, samples.Plant{EarlyReduce: 17_500}, 0.01},
		{"late broadcast", "halo", "compute", stats.CauseSerialization, everyone, samples.Plant{LateBroadcast: 20_000}, samples.Plant{LateBroadcast: 1}, 0.01},
		{"critical path", "halo", "compute", stats.CauseSerialization, everyone, samples.Plant{CriticalPath: 40_000}, samples.Plant{CriticalPath: 8}, 0.01},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := samples.Options{Program: c.program, Ranks: 8, Iterations: 200, Seed: 1, Plant: c.plant}
			causes, a := diagnosed(t, o)
			if len(causes) == 0 {
				t.Fatal("nothing is worth fixing")
			}
			first := causes[0]
			if string(first.Region) != c.region || first.Kind != c.kind || !slices.Equal(first.Ranks, c.ranks) {
				t.Errorf("first is %s in %s on ranks %d", first.Kind, first.Region, first.Ranks)
			}
			o.Plant = c.without
			_, mended := diagnosed(t, o)
			gain, want := *first.GainNs, a.Trace.DurationNs-mended.Trace.DurationNs
			t.Logf("%s: gain %d, the run without it is %d shorter (%+.2f %%)", first.Text, gain, want, 100*(float64(gain)/float64(want)-1))
			if math.Abs(float64(gain-want)) > c.margin*float64(want) {
				t.Errorf("gain %d, the run without it is %d shorter", gain, want)
			}
		})
	}
}

var everyone = []uint32{0, 1, 2, 3, 4, 5, 6, 7}

// TestClean: programs without a fault have no cause of more than 2 % of the run. The tasks of
// masterworker differ in length, so that its workers do wait for each other.
func TestClean(t *testing.T) {
	for _, p := range samples.Programs() {
		t.Run(p.Name, func(t *testing.T) {
			causes, _ := diagnosed(t, samples.Options{Program: p.Name, Ranks: 8, Iterations: 200, Seed: 1})
			for _, c := range causes {
				if p.Name != "masterworker" && (c.GainShare == nil || *c.GainShare > 0.02) {
					t.Errorf("%s", c.Text)
				}
			}
		})
	}
}
