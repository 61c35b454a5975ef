package samples

import (
	"context"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tracekit/trace"
	"tracekit/trace/tracetest"
)

// generate returns a trace in memory; all its parts must pass their checks.
func generate(t *testing.T, o Options) (*Memory, *Truth) {
	t.Helper()
	m, truth, err := InMemory(context.Background(), o)
	if err != nil {
		t.Fatalf("%+v: %v", o, err)
	}
	if err := m.Definitions.Check(); err != nil {
		t.Fatalf("%s: %v", o.Program, err)
	}
	return m, truth
}

func TestGeneratedTracesAreSound(t *testing.T) {
	for _, p := range Programs() {
		for _, ranks := range []int{2, 3, 5, 8, 12} {
			for _, threads := range []int{1, 3} {
				o := Options{Program: p.Name, Ranks: ranks, Iterations: 3, Threads: threads, Seed: 7}
				m, truth := generate(t, o)
				checkStreams(t, fmt.Sprintf("%s, %d ranks, %d threads", p.Name, ranks, threads), m, truth)
			}
		}
	}
}

// checkStreams checks that times do not decrease, that regions nest, that batches follow
// each other, and that the truth counts the events.
func checkStreams(t *testing.T, name string, m *Memory, truth *Truth) {
	t.Helper()
	var events uint64
	for l, batches := range m.Batches {
		next, last := uint64(0), int64(0)
		var open []trace.RegionID
		for _, b := range batches {
			if err := b.Check(); err != nil {
				t.Fatalf("%s: location %d: %v", name, l, err)
			}
			if b.First != next {
				t.Fatalf("%s: location %d: batch begins at %d, not at %d", name, l, b.First, next)
			}
			next += uint64(b.Len())
			for _, at := range timesOf(b) {
				if at < last {
					t.Fatalf("%s: location %d: time %d after %d", name, l, at, last)
				}
				last = at
			}
			for i, r := range b.Flow.Region {
				if int(r) >= len(m.Definitions.Regions) {
					t.Fatalf("%s: location %d: there is no region %d", name, l, r)
				}
				if b.Flow.Kind[i].Enters() {
					open = append(open, r)
				} else if len(open) == 0 || open[len(open)-1] != r {
					t.Fatalf("%s: location %d leaves region %d in %v", name, l, r, open)
				} else {
					open = open[:len(open)-1]
				}
			}
		}
		if len(open) > 0 {
			t.Fatalf("%s: location %d ends in %v", name, l, open)
		}
		events += next
	}
	if events != truth.Events {
		t.Errorf("%s: %d events, truth says %d", name, events, truth.Events)
	}
}

// timesOf returns the times of a batch's events in recorded order.
func timesOf(b *trace.Batch) []int64 {
	var times []int64
	var next [5]int
	of := [5][]int64{b.Flow.Time, b.P2P.Time, b.Coll.Time, b.Metric.Time, b.Other.Time}
	for _, t := range b.Order {
		times = append(times, of[t][next[t]])
		next[t]++
	}
	return times
}

// TestRegionNames: every constant names its region.
func TestRegionNames(t *testing.T) {
	m, _ := generate(t, Options{Program: "halo", Ranks: 2, Iterations: 1})
	for id, want := range map[trace.RegionID]string{regionMain: "main", regionInit: "MPI_Init", regionFinalize: "MPI_Finalize",
		regionStart: "MPI_Start", regionColl: "MPI_Barrier", regionColl + trace.RegionID(trace.CollScan): "MPI_Scan",
		regionIcoll: "MPI_Ibarrier", regionIcoll + trace.RegionID(trace.CollReduceScatterBlock): "MPI_Ireduce_scatter_block",
		regionUser: "exchange", regionUser + 3: "norm"} {
		if got := m.Definitions.RegionName(id); got != want {
			t.Errorf("region %d is %q, want %q", id, got, want)
		}
	}
}

func TestSameSeedSameTrace(t *testing.T) {
	text := func(seed uint64) string {
		m, _ := generate(t, Options{Program: "masterworker", Ranks: 5, Iterations: 4, Seed: seed, Plant: Plant{Skew: 1000, Drift: 50}})
		return tracetest.MustFormat(t, m)
	}
	first, again := text(1), text(1)
	if first != again {
		t.Error("the same seed gives two traces")
	}
	if first == text(2) {
		t.Error("two seeds give the same trace")
	}
}

// TestPlantedWaits compares what was planted with what the simulator counted. The program
// is one whose own iteration waits for nothing, so differences to it are the plant's.
func TestPlantedWaits(t *testing.T) {
	const n, ranks, ticks = 6, 4, 50_000
	for _, c := range []struct {
		name  string
		plant Plant
		get   func(WaitStates) Wait
		want  Wait
	}{
		{"late sender", Plant{LateSender: ticks}, func(w WaitStates) Wait { return w.LateSender }, Wait{n, n * ticks}},
		{"late receiver", Plant{LateReceiver: ticks}, func(w WaitStates) Wait { return w.LateReceiver }, Wait{n, n * ticks}},
		{"wrong order, same source", Plant{WrongOrder: ticks}, func(w WaitStates) Wait { return w.WrongOrderSame },
			Wait{n / 2, n / 2 * ticks}},
		{"wrong order, different source", Plant{WrongOrder: ticks}, func(w WaitStates) Wait { return w.WrongOrderDifferent },
			Wait{n / 2, n / 2 * ticks}},
		{"wrong order is late sender", Plant{WrongOrder: ticks}, func(w WaitStates) Wait { return w.LateSender }, Wait{n, n * ticks}},
		{"early reduce", Plant{EarlyReduce: ticks}, func(w WaitStates) Wait { return w.EarlyReduce }, Wait{n, n * ticks}},
		{"late broadcast", Plant{LateBroadcast: ticks}, func(w WaitStates) Wait { return w.LateBroadcast },
			Wait{n * (ranks - 1), n * (ranks - 1) * ticks}},
		{"critical path", Plant{CriticalPath: ticks}, func(w WaitStates) Wait { return w.WaitAtBarrier },
			Wait{2 * n * (ranks - 1), 2 * n * (ranks - 1) * ticks}},
		{"nothing", Plant{}, func(w WaitStates) Wait { return w.LateSender }, Wait{}},
	} {
		o := Options{Program: "ring", Ranks: ranks, Iterations: n, Plant: c.plant}.withDefaults()
		p := &plan{comms: worldComms(ranks), step: func(*script, int) {}, planted: plant(o)}
		var m *Memory
		clocks := makeClocks(o, nil)
		m = NewMemory(trace.Info{}, makeDefs(o, p, clocks))
		truth, err := simulate(context.Background(), o, p, clocks, m)
		if err != nil {
			t.Fatal(err)
		}
		if got := c.get(truth.Waits); got != c.want {
			t.Errorf("%s: got %+v, want %+v; all: %+v", c.name, got, c.want, truth.Waits)
		}
	}
}

func TestLostMessages(t *testing.T) {
	for _, p := range Programs() {
		_, plain := generate(t, Options{Program: p.Name, Ranks: 4, Iterations: 5})
		_, lossy := generate(t, Options{Program: p.Name, Ranks: 4, Iterations: 5, Plant: Plant{Lost: 7}})
		if lossy.UnmatchedSends != 7 || lossy.UnmatchedReceives != 7 || lossy.Messages != plain.Messages {
			t.Errorf("%s: %d sends, %d receives lost, %d messages of %d", p.Name, lossy.UnmatchedSends,
				lossy.UnmatchedReceives, lossy.Messages, plain.Messages)
		}
		if plain.UnmatchedSends+plain.UnmatchedReceives != 0 {
			t.Errorf("%s: %d and %d messages lost without a plant", p.Name, plain.UnmatchedSends, plain.UnmatchedReceives)
		}
	}
}

// TestRightOffsetsGiveTrueTimes: with skewed clocks the trace is the same once its times
// are corrected by its offsets.
func TestRightOffsetsGiveTrueTimes(t *testing.T) {
	o := Options{Program: "halo", Ranks: 6, Iterations: 20, Seed: 3}
	want, truth := generate(t, o)
	for _, p := range []Plant{{Skew: 12345}, {Drift: 99_999}, {Skew: 900_000_000, Drift: 37}} {
		o.Plant = p
		got, skewed := generate(t, o)
		if d := cmp.Diff(truth.Waits, skewed.Waits); d != "" {
			t.Errorf("%+v changes the waits:\n%s", p, d)
		}
		moved := false
		for l := range got.Batches {
			for i, b := range got.Batches[l] {
				offsets := got.Definitions.Locations[l].ClockOffsets
				for j, at := range b.Flow.Time {
					moved = moved || at != want.Batches[l][i].Flow.Time[j]
					if c := trace.CorrectOffset(offsets, at); c != want.Batches[l][i].Flow.Time[j] {
						t.Fatalf("%+v: location %d: %d is corrected to %d, not %d", p, l, at, c, want.Batches[l][i].Flow.Time[j])
					}
				}
			}
		}
		if !moved {
			t.Errorf("%+v moves nothing", p)
		}
	}
}

func TestOffsetModes(t *testing.T) {
	for mode, want := range map[OffsetMode]int{OffsetsNone: 0, OffsetsRight: 2, OffsetsWrong: 2} {
		m, truth := generate(t, Options{Program: "ring", Ranks: 4, Iterations: 1, Plant: Plant{Skew: 5000, Offsets: mode}})
		offsets := m.Definitions.Locations[2].ClockOffsets
		if len(offsets) != want {
			t.Errorf("%q: %d offsets", mode, len(offsets))
		}
		if right := want > 0 && offsets[0].Offset == -truth.Clock[2].Skew; want > 0 && right != (mode == OffsetsRight) {
			t.Errorf("%q: offset %d, skew %d", mode, offsets[0].Offset, truth.Clock[2].Skew)
		}
	}
}

func TestOptionsAreChecked(t *testing.T) {
	sound := Options{Program: "ring", Ranks: 2, Iterations: 1}
	for want, change := range map[string]func(*Options){
		`unknown program "x"; 'tracekit generate --help' lists them`: func(o *Options) { o.Program = "x" },
		"1 ranks: there must be 2 to 1048576":                        func(o *Options) { o.Ranks = 1 },
		"0 iterations: there must be at least 1":                     func(o *Options) { o.Iterations = 0 },
		"9999 threads: there may be 1 to 1024":                       func(o *Options) { o.Threads = 9999 },
		"skew is -1: it may be 0 to 1099511627776":                   func(o *Options) { o.Plant.Skew = -1 },
		"wrong order needs 3 ranks":                                  func(o *Options) { o.Plant.WrongOrder = 1 },
		`unknown offsets "x"`:                                        func(o *Options) { o.Plant.Offsets = "x" },
		"drift is -1: it may be 0 to 100000 parts per million":       func(o *Options) { o.Plant.Drift = -1 },
	} {
		o := sound
		change(&o)
		_, err := Generate(context.Background(), o, nil)
		if err == nil || err.Error() != "generating a trace: "+want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

// BenchmarkGenerate counts events of a discarding sink.
func BenchmarkGenerate(b *testing.B) {
	for _, p := range Programs() {
		b.Run("program="+p.Name, func(b *testing.B) {
			var events uint64
			for b.Loop() {
				truth, err := Generate(context.Background(), Options{Program: p.Name, Ranks: 64, Iterations: 100},
					func(trace.Info, *trace.Defs) (trace.Sink, error) { return discard{}, nil })
				if err != nil {
					b.Fatal(err)
				}
				events += truth.Events
			}
			b.ReportMetric(float64(events)/b.Elapsed().Seconds()/1e6, "Mevents/s")
		})
	}
}

type discard struct{}

func (discard) Write(*trace.Batch) error { return nil }
func (discard) Close() error             { return nil }
