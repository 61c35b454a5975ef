package whatif

import (
	"fmt"
	"math"
	"testing"

	"tracekit/merge"
	"tracekit/samples"
	"tracekit/stats/measurement"
)

func loads(t *testing.T, m *Model, c measurement.Costs) measurement.Loads {
	t.Helper()
	x, err := measurement.Make(t.Context(), m.t, &c, 1)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// TestMeasurementIsRemoved: a program whose records cost time takes, without these costs, to the tick as long as the same program whose
// records cost none, and the other way round. It does not where messages come in another order then (masterworker), where a test that
// completes a request may not (requests), in collectives, whose members leave 50 ticks apart, and where a large message is sent without
// waiting (ring). Costs five times as long as the shortest calls hide what these take: then 85 % of what they add to the run is removed.
func TestMeasurementIsRemoved(t *testing.T) {
	for _, c := range []struct {
		predictable
		exact bool
	}{
		{predictable{"ring", 1024}, true}, {predictable{"ring", 20_000}, false},
		{predictable{"halo", 1024}, true}, {predictable{"halo", 20_000}, true},
		{predictable{"sweep", 1024}, true}, {predictable{"sweep", 20_000}, true},
		{predictable{"multigrid", 1024}, true}, {predictable{"multigrid", 20_000}, true},
		{predictable{"masterworker", 1024}, false}, {predictable{"collectives", 1024}, false}, {predictable{"requests", 1024}, false},
	} {
		for _, cost := range []int64{1, 70, 1000} {
			t.Run(fmt.Sprintf("%s/bytes=%d/cost=%d", c.program, c.bytes, cost), func(t *testing.T) {
				o := samples.Options{Program: c.program, Ranks: 8, Iterations: 15, Seed: 2, Bytes: c.bytes}
				plain := run(t, o)
				o.Plant.Record = cost
				slow := run(t, o)
				costs := measurement.Costs{Event: float64(cost)}
				for _, x := range []struct {
					from, to *Model
					remove   bool
				}{{slow, plain, true}, {plain, slow, false}} {
					p, err := x.from.Predict(t.Context(), Measure(loads(t, x.from, costs), x.remove))
					if err != nil {
						t.Fatal(err)
					}
					want := predicted(t, x.to)
					off := math.Abs(float64(p.RunTime-want)) / math.Abs(float64(p.Baseline-want))
					exact := c.exact && (cost < 200 || !x.remove)
					if exact && off != 0 || off > 0.15 || p.Left != 0 {
						t.Errorf("remove %v: %d is predicted of %d, %d are left", x.remove, p.RunTime, want, p.Left)
					}
				}
			})
		}
	}
}

// TestMeasurementAddedIsRemoved: in a replay costs that are added and removed at once change nothing, whatever the program.
func TestMeasurementAddedIsRemoved(t *testing.T) {
	c := measurement.Assumed()
	c.Header, c.Layer, c.Byte, c.Buffer = 3600, 900, 2, 640
	for seed := range uint64(60) {
		src, _ := samples.Random(seed)
		m := modelled(t, src, merge.Options{Clock: merge.ClockNone})
		x := loads(t, m, c)
		p, err := m.Predict(t.Context(), Measure(x, false), Measure(x, true))
		if err != nil || p.Gain() != 0 || p.Left != 0 {
			t.Fatalf("seed %d: a gain of %d, %d left: %v", seed, p.Gain(), p.Left, err)
		}
	}
}

// TestMeasurementOfAWrittenRun: a run that is written with costs and read again gives, without them, all its times back. (Records at the
// same time stay at the same time, so that these have none.)
func TestMeasurementOfAWrittenRun(t *testing.T) {
	costs := measurement.Costs{Event: 20}
	for _, program := range []string{"halo", "sweep", "multigrid"} {
		m := run(t, samples.Options{Program: program, Ranks: 8, Iterations: 20, Seed: 5, Plant: samples.Plant{Record: 5}})
		maps, spans, p, err := m.Times(t.Context(), Measure(loads(t, m, costs), false))
		if err != nil {
			t.Fatal(err)
		}
		moved := *m.t
		moved.Source = merge.Corrected(m.t)
		moved.Defs, moved.Clock.Maps, moved.Span = moved.Source.Defs(), maps, spans
		slow := modelled(t, merge.Corrected(&moved), merge.Options{Clock: merge.ClockNone})
		if got := predicted(t, slow); got != p.RunTime {
			t.Fatalf("%s: the run that was written takes %d, not %d", program, got, p.RunTime)
		}
		back, _, p, err := slow.Times(t.Context(), Measure(loads(t, slow, costs), true))
		if err != nil || p.RunTime != p.Baseline-(predicted(t, slow)-predicted(t, m)) || p.Left != 0 {
			t.Errorf("%s: without costs it takes %d, not %d, %d left: %v", program, p.RunTime, predicted(t, m), p.Left, err)
		}
		first := m.first - slow.first
		for l, calls := range m.t.Calls {
			for i := range calls.Len() {
				if got, want := back[l].At(slow.t.Calls[l].At(i).Enter)+first, calls.At(i).Enter; got != want {
					t.Fatalf("%s: location %d enters call %d at %d, not at %d", program, l, i, got, want)
				}
			}
		}
	}
}
