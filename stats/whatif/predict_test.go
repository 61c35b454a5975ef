package whatif

import (
	"context"
	"fmt"
	"math"
	"strings"
	"testing"

	"tracekit/merge"
	"tracekit/samples"
)

// run returns the model of a generated program.
func run(t testing.TB, o samples.Options) *Model {
	t.Helper()
	return modelled(t, generated(t, o), merge.Options{Clock: merge.ClockNone})
}

// place returns the place of the names.
func place(t testing.TB, m *Model, names ...string) Place {
	t.Helper()
	return m.where(func(n name) bool {
		for _, x := range names {
			if n.String() == x {
				return true
			}
		}
		return false
	})
}

func predicted(t testing.TB, m *Model, changes ...Change) int64 {
	t.Helper()
	p, err := m.Predict(context.Background(), changes...)
	if err != nil {
		t.Fatal(err)
	}
	return p.RunTime
}

// work are the regions in which generated programs compute.
var work = []string{"interior", "compute", "block", "smooth", "task", "boundary"}

// A predictable is a program with a change and the program that has it: steady ones, whose
// computations all take equally long but on the last rank.
type predictable struct {
	program string
	bytes   int64
}

// TestPredictsOtherPrograms: the prediction from one run is, to the tick, the run time of the
// other one: with the last rank's work scaled to that of all, with all ranks at half the speed,
// with shared work.
func TestPredictsOtherPrograms(t *testing.T) {
	const ranks, compute, more = 8, 10_000, 80_000
	for _, c := range []struct {
		predictable
		scale, speed, balance bool // is exact
	}{
		{predictable{"ring", 1024}, true, true, true},
		{predictable{"ring", 20_000}, true, true, true},
		{predictable{"halo", 1024}, true, true, true},
		{predictable{"halo", 20_000}, true, true, true},
		{predictable{"sweep", 1024}, true, true, false},
		{predictable{"sweep", 20_000}, true, true, false},
		{predictable{"multigrid", 1024}, true, true, false},
		{predictable{"multigrid", 20_000}, true, true, false},
		{predictable{"masterworker", 1024}, false, true, false},
		{predictable{"masterworker", 20_000}, true, true, false},
		{predictable{"collectives", 1024}, false, true, false},
		{predictable{"requests", 1024}, true, true, true},
		{predictable{"requests", 20_000}, true, true, true},
	} {
		t.Run(fmt.Sprintf("%s/bytes=%d", c.program, c.bytes), func(t *testing.T) {
			o := samples.Options{Program: c.program, Ranks: ranks, Iterations: 15, Bytes: c.bytes, Steady: true, Compute: compute}
			even := run(t, o)
			want := predicted(t, even)
			o.Plant.Imbalance = more
			m := run(t, o)
			check := func(what string, got, want int64, exact bool) {
				if off := math.Abs(float64(got-want)) / float64(want); exact != (off == 0) || off > 0.04 && c.program != "masterworker" {
					t.Errorf("%s: %d is predicted of %d (%+.2f %%), exact: %v", what, got, want, 100*off, exact)
				}
			}
			check("scale", predicted(t, m, Scale(place(t, m, work...), compute/float64(compute+more), ranks-1)), want, c.scale)
			o.Plant.Imbalance, o.Compute = 0, 2*compute
			slow := run(t, o)
			doubled := predicted(t, slow)
			check("balance", predicted(t, m, Balance(place(t, m, work...))), doubled, c.balance)
			check("speed", predicted(t, even, RankSpeed(0.5)), doubled, c.speed)
			check("speed up", predicted(t, slow, RankSpeed(2)), want, c.speed)
		})
	}
}

// TestPredictsOtherNetworks: what is predicted for another network is within 2 % what the
// program takes there.
func TestPredictsOtherNetworks(t *testing.T) {
	for _, c := range []predictable{{"ring", 64}, {"ring", 8000}, {"halo", 1024}, {"sweep", 64}, {"sweep", 8000}, {"multigrid", 1024},
		{"multigrid", 200_000}, {"masterworker", 8000}, {"masterworker", 200_000}} {
		o := samples.Options{Program: c.program, Ranks: 12, Iterations: 15, Seed: 3, Bytes: c.bytes}
		m := run(t, o)
		for _, n := range []samples.Network{{}, {Latency: 15_000, BytesPerTick: 4}, {Latency: 500, BytesPerTick: 1}, {Latency: 1500, BytesPerTick: 40}} {
			change := m.Network(float64(n.Latency), float64(n.BytesPerTick)*1e9)
			if n.Latency == 0 {
				change = IdealNetwork()
			}
			p, err := m.Predict(context.Background(), change)
			if err != nil {
				if c.program == "halo" && n.Latency > 0 { // its messages are always there before they are wanted
					continue
				}
				t.Fatal(err)
			}
			o.Network = &n
			want := predicted(t, run(t, o))
			if off := float64(p.RunTime-want) / float64(want); math.Abs(off) > 0.02 {
				t.Errorf("%s, %d bytes on %+v: %d is predicted of %d (%+.2f %%)", c.program, c.bytes, n, p.RunTime, want, 100*off)
			}
		}
	}
}

// TestRefuses states which changes are refused, and why.
func TestRefuses(t *testing.T) {
	m := run(t, samples.Options{Program: "halo", Ranks: 4, Iterations: 3})
	everywhere := place(t, m, "main")
	for _, c := range []struct {
		change Change
		want   string
	}{
		{Scale(everywhere, -1), "a factor of -1 makes no sense"},
		{Scale(everywhere, 1, 4), "there is no rank 4"},
		{Cap(everywhere), "overhead was not analysed"},
		{Nonblocking(everywhere), "nothing to overlap"},
		{Order(everywhere), "order cannot be judged"},
		{m.Network(1000, 1e9), "no message shows what this one is like"},
	} {
		if _, err := m.Predict(context.Background(), c.change); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error %v, want %q", err, c.want)
		}
	}
	if _, err := m.Place("interor"); err == nil || !strings.Contains(err.Error(), `no place is called "interor"; nearest are interior, `) {
		t.Error(err)
	}
	for _, text := range []string{"interior", "INTERIOR", "halo.c:80", "interior@halo.c:80", "MPI_Waitall", "MPI_Waitall@exchange", "mpi_allreduce@halo.c:100"} {
		if _, err := m.Place(text); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
}
