package compare_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"tracekit/merge"
	"tracekit/samples"
	"tracekit/stats/analysis"
	"tracekit/stats/compare"
	"tracekit/stats/statstest"
	"tracekit/trace"
	"tracekit/trace/tracetest"
)

// kept are samples that several tests compare, each with others; comparing leaves them as they are.
var kept = make(map[samples.Options]*compare.Sample)

func sampled(t testing.TB, o samples.Options) *compare.Sample {
	t.Helper()
	if kept[o] == nil {
		_, kept[o] = taken(t, o)
	}
	return kept[o]
}

// taken generates a run in memory and takes its sample.
func taken(t testing.TB, o samples.Options) (*trace.Trace, *compare.Sample) {
	t.Helper()
	return takenOf(t, statstest.Generated(t, o))
}

func takenOf(t testing.TB, src trace.Source) (*trace.Trace, *compare.Sample) {
	t.Helper()
	tr, a := statstest.Analyzed(t, src, merge.Options{}, analysis.Options{Top: 1})
	s, err := compare.Take(t.Context(), tr, a, 0)
	if err != nil {
		t.Fatal(err)
	}
	return tr, s
}

// TestIdleStreams states that of a stream, which idles outside any region, that is no time of a place: what idles more changes no place.
func TestIdleStreams(t *testing.T) {
	job := func(busy int64) *compare.Sample {
		clock := trace.ClockProperties{Resolution: 1_000_000_000}
		defs := &trace.Defs{
			Strings: []string{"", "main", "kernel", "host", "stream"}, Clock: clock,
			Regions:        []trace.Region{{Name: 1}, {Name: 2}},
			LocationGroups: []trace.LocationGroup{{Name: 3, Kind: 1, Node: trace.None, Creator: trace.None}},
			Locations:      []trace.Location{{Name: 3, Kind: trace.LocationCPUThread}, {Name: 4, Kind: trace.LocationGPU}},
		}
		m := samples.NewMemory(trace.Info{}, defs)
		end := busy + 1000
		for l, calls := range [][][3]int64{{{0, 0, end}}, {{1, 0, 500}, {1, end - 500, end}}} {
			b := new(trace.Batch)
			b.Reset(trace.LocationID(l), 0)
			for _, c := range calls {
				b.AddFlow(c[1], trace.KindEnter, trace.RegionID(c[0]))
				b.AddFlow(c[2], trace.KindLeave, trace.RegionID(c[0]))
			}
			m.Batches[l] = []*trace.Batch{b}
		}
		_, s := takenOf(t, m)
		return s
	}
	c := compare.Of([]*compare.Sample{job(0)}, []*compare.Sample{job(100_000)})
	if c.Run.A != 2000 || c.Run.B != 102_000 {
		t.Errorf("%g and %g ns, want the host's time and 1,000 ns of kernels", c.Run.A, c.Run.B)
	}
}

// TestTimeIsConserved states that what places take by themselves and wait is all the time from the
// begin of the run to the last event of each location, that parts sum to the whole, and that a run
// does not differ from itself.
func TestTimeIsConserved(t *testing.T) {
	for _, p := range samples.Programs() {
		for _, threads := range []int{1, 3} {
			o := samples.Options{Program: p.Name, Ranks: 4, Iterations: 12, Threads: threads, Plant: samples.Plant{LateSender: 9000}}
			tr, s := taken(t, o)
			want := 0.0
			first := int64(math.MaxInt64)
			for _, span := range tr.Span {
				if span.Events > 0 {
					first = min(first, span.First)
				}
			}
			for _, span := range tr.Span {
				if span.Events > 0 {
					want += float64(span.Last - first)
				}
			}
			c := compare.Of([]*compare.Sample{s}, []*compare.Sample{s})
			if c.Run.A != want || c.Run.B != want {
				t.Errorf("%s: places take %g ns, locations %g", p.Name, c.Run.A, want)
			}
			sum := 0.0
			for i := range c.Changes {
				sum += c.Changes[i].A
			}
			if sum != want || c.Significant != 0 || !c.Comparable.Alike {
				t.Errorf("%s: rows sum to %g of %g, %d are significant, %v", p.Name, sum, want, c.Significant, c.Comparable.Reasons)
			}
		}
	}
}

// TestShape states which differences of shape are told.
func TestShape(t *testing.T) {
	sample := func(program string, ranks, threads int) []*compare.Sample {
		_, s := taken(t, samples.Options{Program: program, Ranks: ranks, Iterations: 2, Threads: threads})
		return []*compare.Sample{s}
	}
	with := func(rank1 string) []*compare.Sample {
		_, s := takenOf(t, tracetest.MustParse(t, "location 0 rank=0\n  0 Enter main ; 9 Leave main\nlocation 1 rank=1\n  "+rank1))
		return []*compare.Sample{s}
	}
	kernel := "gemm<" + strings.Repeat("float,", 20) + "1>"
	for _, c := range []struct {
		a, b []*compare.Sample
		want []string
	}{
		{sample("ring", 3, 1), sample("ring", 4, 1), []string{"ranks", "communicators"}},
		{sample("ring", 3, 1), sample("ring", 3, 2), []string{"threads", "program"}},
		{sample("ring", 3, 1), sample("sweep", 3, 1), []string{"program", "program"}},
		{sample("ring", 3, 1), sample("ring", 3, 1), nil},
		{with("0 Enter main ; 9 Leave main"), with(""), []string{"ranks that the trace has nothing of: 0 and 1"}},
		{with("0 Enter main ; 1 Enter " + kernel + " ; 2 Leave " + kernel + " ; 9 Leave main"), with("0 Enter main ; 9 Leave main"),
			[]string{"program: only the first has gemm<…>"}},
	} {
		got := compare.Of(c.a, c.b).Comparable
		if got.Alike != (c.want == nil) || len(got.Reasons) != len(c.want) {
			t.Errorf("%v, want reasons about %v", got, c.want)
			continue
		}
		for i, reason := range got.Reasons {
			if !strings.HasPrefix(reason, c.want[i]) {
				t.Errorf("%q, want one about %s", reason, c.want[i])
			}
		}
	}
}

// A pair is two runs that differ in their seeds and, in one region, in what is planted.
type pair struct {
	program string
	a, b    samples.Plant
	places  []string // of which one is to come first; with nil, nothing has changed
}

// planted are five programs with eight changes each.
func planted() (out []pair) {
	work := map[string][]string{"ring": {"compute"}, "halo": {"interior", "boundary"}, "sweep": {"block"}, "multigrid": {"smooth"},
		"masterworker": {"task"}}
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

// sides are how many runs there are of A and of B.
var sides = []struct{ a, b int }{{1, 1}, {1, 2}, {2, 1}, {2, 2}}

// compared compares runs that differ in their seeds, and in what is planted on one side.
func (p pair) compared(t *testing.T, i int, a, b samples.Plant, runs struct{ a, b int }) *compare.Comparison {
	seed := uint64(4*i + 1)
	side := func(plant samples.Plant, n int) (out []*compare.Sample) {
		for range n {
			out = append(out, sampled(t, p.options(seed, plant)))
			seed++
		}
		return out
	}
	return compare.Of(side(a, runs.a), side(b, runs.b))
}

// TestPlantedChanges states that of 40 changes of one region each is found and comes first.
func TestPlantedChanges(t *testing.T) {
	for _, runs := range sides {
		found := 0
		for i, p := range planted() {
			first := p.compared(t, i, p.a, p.b, runs).Changes[0]
			if first.Significant != nil && *first.Significant && slices.Contains(p.places, string(first.Region)) && first.Operation == "" {
				found++
			} else {
				t.Logf("pair %d, %s %+v -> %+v: first is %s %s, %s", i, p.program, p.a, p.b, first.Kind, first.Region, first.Operation)
			}
		}
		if t.Logf("%d against %d: %d", runs.a, runs.b, found); found < 40 {
			t.Errorf("of %d runs and %d the change comes first in %d of 40 pairs", runs.a, runs.b, found)
		}
	}
}

// TestEqualPrograms states that of 40 pairs which differ in their seeds alone 38 have no significant change.
func TestEqualPrograms(t *testing.T) {
	for _, runs := range sides {
		quiet := 0
		for i, p := range planted() {
			c := p.compared(t, i, p.a, p.a, runs)
			if c.Significant == 0 {
				quiet++
			} else {
				first := c.Changes[0]
				t.Logf("pair %d, %s: %s of %s %s, %g and %g, by chance with %g", i, p.program, first.Kind, first.Region, first.Operation, first.A,
					first.B, *first.PValue)
			}
		}
		if t.Logf("%d against %d: %d", runs.a, runs.b, quiet); quiet < 38 {
			t.Errorf("of %d runs and %d %d of 40 pairs have no significant change, want 38", runs.a, runs.b, quiet)
		}
	}
}
