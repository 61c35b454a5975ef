package whatif

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"tracekit/merge"
	"tracekit/samples"
	"tracekit/spill"
	"tracekit/stats/analysis"
	"tracekit/stats/statstest"
	"tracekit/trace/tracetest"
)

// run returns the model of a generated program.
func run(t testing.TB, o samples.Options) *Model {
	t.Helper()
	return modelled(t, statstest.Generated(t, o), merge.Options{Clock: merge.ClockNone})
}

// place returns the place of the names.
func place(t testing.TB, m *Model, names ...string) Place {
	t.Helper()
	slots := make([]bool, m.slots())
	for i, n := range m.names {
		slots[i] = slices.Contains(names, n.String())
	}
	return m.ofSlots(slots)
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

// A predictable is a program with messages of some size.
type predictable struct {
	program string
	bytes   int64
}

// TestPredictsOtherPrograms: the prediction from one run is, to the tick, the run time of the
// other one: with the last rank's work scaled to that of all, with shared work, with all ranks at
// half the speed or twice as fast. It is not where messages come in another order then
// (masterworker), where visits of the same number are not of the same work (multigrid: levels that
// some ranks do not have; masterworker: tasks), and in collectives, whose members leave a
// non-blocking operation 50 ticks apart; nor in requests, where a test that completes a request may
// not when times change.
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
		{predictable{"sweep", 1024}, true, true, true},
		{predictable{"sweep", 20_000}, true, true, true},
		{predictable{"multigrid", 1024}, true, true, false},
		{predictable{"multigrid", 20_000}, true, true, false},
		{predictable{"masterworker", 1024}, false, true, false},
		{predictable{"masterworker", 20_000}, true, true, false},
		{predictable{"collectives", 1024}, false, true, false},
		{predictable{"requests", 1024}, false, true, false},
		{predictable{"requests", 20_000}, false, true, false},
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

// TestPredictsAnySource: masterworker without its fault takes what is predicted if its master takes
// the results as they come, which it does, as it receives from any source. That is not in the trace.
func TestPredictsAnySource(t *testing.T) {
	for _, plant := range []samples.Plant{{LateSender: 20_000}, {LateReceiver: 20_000}, {WrongOrder: 20_000}} {
		o := samples.Options{Program: "masterworker", Ranks: 8, Iterations: 32, Seed: 1, Plant: plant}
		m := run(t, o)
		receives, err := m.Place("MPI_Recv@master")
		if err != nil {
			t.Fatal(err)
		}
		got := predicted(t, m, Scale(place(t, m, "compute"), 0), Order(receives))
		o.Plant = samples.Plant{LateSender: min(1, plant.LateSender), LateReceiver: min(1, plant.LateReceiver),
			WrongOrder: min(1, plant.WrongOrder)}
		if want := predicted(t, run(t, o)); math.Abs(float64(got-want)) > 1e-4*float64(want) {
			t.Errorf("%+v: %d is predicted of %d", plant, got, want)
		}
	}
}

// TestPredictsOtherNetworks: what is predicted for another network is within 2 % what the
// program takes there. In halo and burst, whether large sends wait for their receivers shows only in
// how long calls take that complete them; of requests the run shows nothing of messages of 16 kB
// and more, since these are there in time: which they are no longer on a slower network.
func TestPredictsOtherNetworks(t *testing.T) {
	for _, c := range []predictable{{"ring", 64}, {"ring", 8000}, {"ring", 200_000}, {"halo", 1024}, {"halo", 200_000}, {"burst", 1024},
		{"burst", 200_000},
		{"sweep", 64}, {"sweep", 8000}, {"sweep", 20_000}, {"sweep", 200_000}, {"multigrid", 1024}, {"multigrid", 200_000},
		{"masterworker", 8000}, {"masterworker", 200_000}, {"requests", 1024}, {"requests", 20_000}} {
		o := samples.Options{Program: c.program, Ranks: 12, Iterations: 15, Seed: 3, Bytes: c.bytes}
		m := run(t, o)
		u, err := m.Undecided(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		if large := c.bytes > 8192; u != nil && u.Likely != (large && c.program != "requests") {
			t.Errorf("%s, %d bytes: sends of %d bytes are likely to wait: %v", c.program, c.bytes, u.Bytes, u.Likely)
		}
		if u != nil {
			identical(t, u.Other)
			m = u.Other
		}
		if _, err := m.Predict(context.Background(), m.Network(1e300, 1e-300)); err == nil {
			t.Errorf("%s, %d bytes: a network without end is predicted", c.program, c.bytes)
		}
		for _, n := range []samples.Network{{}, {Latency: 15_000, BytesPerTick: 4}, {Latency: 500, BytesPerTick: 1},
			{Latency: 1500, BytesPerTick: 40}} {
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
		{Scale(everywhere, -1), "factor -1 is not valid"},
		{Scale(everywhere, 1, 4), "no rank 4"},
		{Cap(everywhere), "overhead was not analyzed"},
		{Nonblocking(everywhere), "nothing to overlap"},
		{Order(everywhere), "order cannot change"},
		{m.Network(1000, 1e9), "no message shows the speed of this one"},
		{RankSpeed(1e-18, 0), "does not fit into 64 bits"},
		{RankSpeed(1e-308, 0), "does not fit into 64 bits"},
		{Scale(place(t, m, "interior"), 1e300), "does not fit into 64 bits"},
	} {
		if _, err := m.Predict(context.Background(), c.change); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error %v, want %q", err, c.want)
		}
	}
	if _, err := m.Place("interor"); err == nil || !strings.Contains(err.Error(), `no place is named "interor"; nearest are interior, `) {
		t.Error(err)
	}
	for _, text := range []string{"interior", "INTERIOR", "halo.c:80", "interior@halo.c:80", "interior@exchange", "MPI_Waitall",
		"MPI_Waitall@exchange", "mpi_allreduce@halo.c:100"} {
		if _, err := m.Place(text); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// TestTimes: the events of a changed run are, to the tick, those of the program that has the
// change.
func TestTimes(t *testing.T) {
	for _, c := range []predictable{{"ring", 20_000}, {"halo", 1024}, {"sweep", 20_000}, {"multigrid", 1024}} {
		o := samples.Options{Program: c.program, Ranks: 6, Iterations: 8, Bytes: c.bytes, Steady: true, Compute: 10_000}
		want := run(t, o)
		o.Plant.Imbalance = 90_000
		m := run(t, o)
		maps, spans, p, err := m.Times(context.Background(), Scale(place(t, m, work...), 0.1, 5))
		if err != nil {
			t.Fatal(err)
		}
		if p.RunTime != predicted(t, want) {
			t.Errorf("%s: %d is predicted of %d", c.program, p.RunTime, predicted(t, want))
		}
		for l, calls := range want.t.Calls {
			if spans[l] != want.t.Span[l] {
				t.Errorf("%s: location %d lasts %v, not %v", c.program, l, spans[l], want.t.Span[l])
			}
			for i := range calls.Len() {
				w, c0 := calls.At(i), m.t.Calls[l].At(i)
				if enter, leave := maps[l].At(c0.Enter), maps[l].At(c0.Leave); enter != w.Enter || leave != w.Leave {
					t.Fatalf("%s: call %d of location %d lasts from %d to %d, not from %d to %d", c.program, i, l, enter, leave, w.Enter, w.Leave)
				}
			}
		}
	}
}

// TestSamePrediction checks that neither the number of jobs nor the memory for tables shows.
func TestSamePrediction(t *testing.T) {
	src := statstest.Generated(t, samples.Options{Program: "multigrid", Ranks: 8, Threads: 2, Iterations: 60, Seed: 4, Bytes: 20_000,
		Plant: samples.Plant{LateSender: 4000, LateReceiver: 3000, WrongOrder: 5000, Skew: 3000, Offsets: samples.OffsetsNone}})
	results := func(o merge.Options) string {
		m := modelled(t, src, o)
		a := statstest.Analysis(t, m.t, analysis.Options{Jobs: o.Jobs})
		gains, err := m.Gains(context.Background(), a)
		if err != nil {
			t.Fatal(err)
		}
		recv, err := m.Place("MPI_Recv")
		if err != nil {
			t.Fatal(err)
		}
		p, err := m.Predict(context.Background(), Nonblocking(recv), IdealNetwork(), RankSpeed(3, 2))
		if err != nil {
			t.Fatal(err)
		}
		for i := range gains {
			gains[i].Share, gains[i].changes = nil, nil
		}
		return fmt.Sprint(gains, p)
	}
	want := results(merge.Options{Jobs: 1})
	for _, o := range []merge.Options{{Jobs: 4}, {Jobs: 2, Store: spill.NewStore(2<<20, t.TempDir())}} {
		if got := results(o); got != want {
			t.Errorf("%d jobs: %s, with one %s", o.Jobs, got, want)
		}
	}
}

// TestGainsByCaller: what is computed in planted episodes is tried by itself too, as the place that
// its name says.
func TestGainsByCaller(t *testing.T) {
	m := run(t, samples.Options{Program: "ring", Ranks: 8, Iterations: 32, Seed: 1, Plant: samples.Plant{LateSender: 20_000}})
	a := statstest.Analysis(t, m.t, analysis.Options{})
	gains, err := m.Gains(context.Background(), a)
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, g := range gains {
		if !strings.HasPrefix(g.Place, "compute@") || g.Change != "scale 0" {
			continue
		}
		p, err := m.Place(g.Place)
		if err != nil {
			t.Fatal(err)
		}
		if gain := predicted(t, m) - predicted(t, m, Scale(p, 0)); gain != g.GainNs || gain <= 0 {
			t.Errorf("%s gains %d, not %d", g.Place, g.GainNs, gain)
		}
		found++
	}
	if found != 2 { // episode, pass
		t.Errorf("%d callers of compute: %v", found, gains)
	}
	last := gains[slices.IndexFunc(gains, func(g Gain) bool { return strings.Contains(g.Place, " + ") })]
	if strings.Count(last.Place, "compute") > 1 {
		t.Errorf("%s are made together", last.Place)
	}
}

// TestOverlapAndOrder: rank 0 waits for the message of rank 1, sent at 1000, before it takes that
// of rank 2, sent at 20, and works for 900 ticks. Calls that send take 5 ticks, so messages are
// there 5 ticks after they are sent; the receives take 5 and 10 themselves, the barrier 10.
//
//   - Overlapped, the receives end at 15 and 25, the work at 925; before the barrier rank 0
//     waits until 1005, when rank 1 comes too: it ends at 1015.
//   - In order, the receives end at 30, 5 after 25, and at 1015, 10 after 1005; the work at 1915,
//     the barrier at 1925.
func TestOverlapAndOrder(t *testing.T) {
	src := tracetest.MustParse(t, `
location 0 rank=0
  0 Enter main ; 0 Enter MPI_Init ; 1 Leave MPI_Init
  10 Enter MPI_Recv ; 1010 MpiRecv from=1 tag=1 bytes=8 ; 1010 Leave MPI_Recv
  1010 Enter MPI_Recv ; 1020 MpiRecv from=2 tag=1 bytes=8 ; 1020 Leave MPI_Recv
  1020 Enter work ; 1920 Leave work
  1920 Enter MPI_Barrier ; 1920 MpiCollectiveBegin ; 1930 MpiCollectiveEnd Barrier root=none ; 1930 Leave MPI_Barrier ; 1930 Leave main
location 1 rank=1
  0 Enter main ; 0 Enter MPI_Init ; 1 Leave MPI_Init
  1000 Enter MPI_Send ; 1000 MpiSend to=0 tag=1 bytes=8 ; 1005 Leave MPI_Send
  1005 Enter MPI_Barrier ; 1005 MpiCollectiveBegin ; 1930 MpiCollectiveEnd Barrier root=none ; 1930 Leave MPI_Barrier ; 1930 Leave main
location 2 rank=2
  0 Enter main ; 0 Enter MPI_Init ; 1 Leave MPI_Init
  20 Enter MPI_Send ; 20 MpiSend to=0 tag=1 bytes=8 ; 25 Leave MPI_Send
  25 Enter MPI_Barrier ; 25 MpiCollectiveBegin ; 1930 MpiCollectiveEnd Barrier root=none ; 1930 Leave MPI_Barrier ; 1930 Leave main
`)
	m := modelled(t, src, merge.Options{Clock: merge.ClockNone})
	recv, err := m.Place("MPI_Recv")
	if err != nil {
		t.Fatal(err)
	}
	got := []int64{predicted(t, m), predicted(t, m, Nonblocking(recv)), predicted(t, m, Order(recv))}
	if want := []int64{1930, 1015, 1925}; !slices.Equal(got, want) {
		t.Errorf("the run takes %d as it is, with overlap, in order: want %d", got, want)
	}
}
