package diagnosis_test

import (
	"cmp"
	"math"
	"slices"
	"testing"

	"tracekit/document/cause"
	"tracekit/document/field"
	"tracekit/merge"
	"tracekit/samples"
	"tracekit/stats/analysis"
	"tracekit/stats/diagnosis"
	"tracekit/stats/overhead"
	"tracekit/stats/statstest"
)

// diagnosed generates a program and finds its causes.
func diagnosed(t *testing.T, o samples.Options) ([]cause.Cause, *analysis.Result) {
	t.Helper()
	src := statstest.Generated(t, o)
	tr, a := statstest.Analyzed(t, src, merge.Options{Clock: merge.ClockNone}, analysis.Options{Overhead: &overhead.Options{PerCall: true}})
	causes, err := diagnosis.Find(t.Context(), tr, a, 0)
	if err != nil {
		t.Fatal(err)
	}
	return causes, a
}

// TestPlanted: in every program the first cause is the place and the ranks where a fault is planted,
// and what mending it gains is, to 1 %, the difference from the run in which the fault is as good as
// nothing; of a reduce whose root comes early, from that in which the other ranks have 7/8 of their
// work, since the root could take its share. Where the place has other callers, the cause names the one.
//
// A root of collectives and masterworker that comes early as in the others costs less than a
// hundredth of the run, or than the tasks of masterworker that differ by themselves: there it comes
// earlier. Which worker's result the master takes first is not the same without the fault: that it
// takes any is not in the trace (but see TestPredictsAnySource).
func TestPlanted(t *testing.T) {
	const ticks = 20_000
	work := map[string]string{"halo": "interior", "sweep": "block", "multigrid": "smooth", "masterworker": "task"}
	shared := []string{"ring", "burst", "collectives", "requests"} // compute in the same region as what is planted
	for _, p := range samples.Programs() {
		for _, c := range []struct {
			name           string
			plant, without samples.Plant
			kind           cause.Kind
			region         string
			ranks          []uint32
		}{
			{"imbalance", samples.Plant{Imbalance: ticks}, samples.Plant{}, cause.Imbalance, cmp.Or(work[p.Name], "compute"), []uint32{7}},
			{"late sender", samples.Plant{LateSender: ticks}, samples.Plant{LateSender: 1}, cause.Serialization, "compute", everyone},
			{"late receiver", samples.Plant{LateReceiver: ticks}, samples.Plant{LateReceiver: 1}, cause.Serialization, "compute", everyone},
			{"wrong order", samples.Plant{WrongOrder: ticks}, samples.Plant{WrongOrder: 1}, cause.Serialization, "compute", everyone},
			{"early reduce", samples.Plant{EarlyReduce: ticks}, samples.Plant{EarlyReduce: ticks * 7 / 8}, cause.Imbalance, "compute",
				everyone},
			{"late broadcast", samples.Plant{LateBroadcast: ticks}, samples.Plant{LateBroadcast: 1}, cause.Serialization, "compute",
				everyone},
			{"critical path", samples.Plant{CriticalPath: ticks}, samples.Plant{CriticalPath: 1}, cause.Serialization, "compute", everyone},
		} {
			t.Run(p.Name+"/"+c.name, func(t *testing.T) {
				if c.name == "early reduce" && (p.Name == "collectives" || p.Name == "masterworker") {
					c.plant.EarlyReduce, c.without.EarlyReduce = 8*c.plant.EarlyReduce, 8*c.without.EarlyReduce
				}
				o := samples.Options{Program: p.Name, Ranks: 8, Iterations: 32, Seed: 1, Plant: c.plant}
				causes, a := diagnosed(t, o)
				margin := 0.01
				if p.Name == "masterworker" && slices.Contains([]string{"late sender", "late receiver", "wrong order"}, c.name) {
					margin = 0.013
				}
				if len(causes) == 0 {
					t.Fatal("nothing is worth fixing")
				}
				first := causes[0]
				if string(first.Region) != c.region || first.Kind != c.kind || !slices.Equal(first.Ranks, c.ranks) {
					t.Errorf("first is %s in %s on ranks %d", first.Kind, first.Region, first.Ranks)
				}
				if split := c.name != "imbalance" && slices.Contains(shared, p.Name); split != slices.Equal(first.Callers,
					[]field.Name{"episode"}) {
					t.Errorf("called from %q", first.Callers)
				}
				o.Plant = c.without
				_, mended := diagnosed(t, o)
				gain, want := *first.GainNs, a.Trace.DurationNs-mended.Trace.DurationNs
				if math.Abs(float64(gain-want)) > margin*float64(want) {
					t.Errorf("gain %d, the run without it is %d shorter (%+.2f %%): %s", gain, want, 100*(float64(gain)/float64(want)-1),
						first.Text)
				}
			})
		}
	}
}

var everyone = []uint32{0, 1, 2, 3, 4, 5, 6, 7}

// TestRotating states that what one rank after the other does, each in its turn, is found, though no rank does more of it than others to
// speak of.
func TestRotating(t *testing.T) {
	causes, a := diagnosed(t, samples.Options{Program: "halo", Ranks: 16, Iterations: 50, Seed: 1, Plant: samples.Plant{LateSender: 5000}})
	if len(causes) == 0 || causes[0].Region != "compute" || causes[0].Kind != cause.Serialization || *causes[0].GainNs < 49*5000 {
		t.Errorf("of a run with efficiency %v, in which one rank after the other computes for 5 µs in 50 iterations, the causes are %+v",
			*a.Efficiency.ParallelEfficiency, causes)
	}
}

// TestClean: programs without a fault have no cause of more than 2 % of the run, but are told where they lose time if that is much. The
// tasks of masterworker differ in length, so that its workers do wait for each other.
func TestClean(t *testing.T) {
	for _, p := range samples.Programs() {
		t.Run(p.Name, func(t *testing.T) {
			causes, _ := diagnosed(t, samples.Options{Program: p.Name, Ranks: 8, Iterations: 200, Seed: 1})
			if causes == nil {
				t.Error("nil says that nobody has asked")
			}
			for _, c := range causes {
				if p.Name != "masterworker" && c.Kind != cause.Inefficient && (c.GainShare == nil || *c.GainShare > 0.02) {
					t.Errorf("%s", c.Text)
				}
			}
		})
	}
}
