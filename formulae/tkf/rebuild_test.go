package tkf_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tracekit/formulae"
	"tracekit/formulae/tkf"
	"tracekit/samples"
	"tracekit/spill"
	"tracekit/trace"
)

// length returns the time from the first to the last event of a trace.
func length(t *testing.T, src trace.Source) int64 {
	first, last := int64(math.MaxInt64), int64(math.MinInt64)
	for l := range src.Defs().Locations {
		times := timesOf(t, src, trace.LocationID(l))
		first, last = min(first, slices.Min(times)), max(last, slices.Max(times))
	}
	return last - first
}

// A rebuilt run takes as long as the recorded one, whoever waits for whom: waiting is made
// again, not added to what it was.
func TestRebuiltLength(t *testing.T) {
	for _, program := range []string{"ring", "halo", "sweep", "multigrid", "masterworker", "collectives", "requests"} {
		src := generate(t, samples.Options{Program: program, Ranks: 8, Iterations: 100, Seed: 3})
		for _, d := range []formulae.Durations{formulae.Means, formulae.Laws} {
			name, r := compress(t, src, tkf.Options{Mode: tkf.Statistics, Durations: d, Seed: 1})
			want, got := float64(length(t, src)), float64(length(t, openTKF(t, name)))
			if math.Abs(got/want-1) > 0.03 {
				t.Errorf("%s, %s: %.0f instead of %.0f ns", program, d, got, want)
			}
			s := r.Statistics.Durations
			if sum := s.Fitted.Time + s.Sampled.Time; d == formulae.Means && sum != 0 || d == formulae.Laws && sum < 0.3 {
				t.Errorf("%s: laws for %.2f of the time", program, sum)
			}
			if r.Sizes.File > *r.Sizes.Bound {
				t.Errorf("%s: %d bytes, bound %d", program, r.Sizes.File, *r.Sizes.Bound)
			}
		}
	}
}

// What a replay notes for those who read lies in the store, whatever that keeps in memory.
func TestReplayInStore(t *testing.T) {
	src := generate(t, samples.Options{Program: "halo", Ranks: 4, Iterations: 2000, Seed: 3})
	name, _ := compress(t, src, tkf.Options{Mode: tkf.Statistics})
	store := spill.NewStore(0, t.TempDir())
	defer store.Close()
	spilled, err := tkf.Open(name, 0, store)
	if err != nil {
		t.Fatal(err)
	}
	defer spilled.Close()
	checkSame(t, openTKF(t, name), spilled)
	if store.Spilled() == 0 {
		t.Error("nothing was spilled")
	}
}

// The same seed gives the same events, another one others.
func TestSeeds(t *testing.T) {
	src := generate(t, samples.Options{Program: "halo", Ranks: 4, Iterations: 100, Seed: 3})
	times := func(seed uint64) []int64 {
		name, _ := compress(t, src, tkf.Options{Mode: tkf.Statistics, Durations: formulae.Laws, Seed: seed})
		return timesOf(t, openTKF(t, name), 1)
	}
	if !slices.Equal(times(1), times(1)) || slices.Equal(times(1), times(2)) {
		t.Error("the seed does not decide")
	}
}

// Branches that follow no rule: every call takes place as often as it did, in an order that
// is made up, and the report says of how many events.
func TestBranchesNotLearned(t *testing.T) {
	src := &trace.MemorySource{Definitions: worldDefs(1, "main", "a", "b", "c", "d", "e")}
	b := &trace.Batch{}
	b.Reset(0, 0)
	r := rand.New(rand.NewPCG(1, 2))
	time := int64(0)
	flow := func(k trace.Kind, region trace.RegionID) {
		time += 10
		b.AddFlow(time, k, region)
	}
	for range 500 { // too many to be kept exactly
		flow(trace.KindEnter, 0)
		for range 40 {
			region := trace.RegionID(1 + r.IntN(5))
			flow(trace.KindEnter, region)
			flow(trace.KindLeave, region)
		}
		flow(trace.KindLeave, 0)
	}
	src.Batches = [][]*trace.Batch{{b}}
	name, report := compress(t, src, tkf.Options{Mode: tkf.Statistics})
	rebuilt := openTKF(t, name)
	calls := func(src trace.Source) map[trace.RegionID]int {
		n := make(map[trace.RegionID]int)
		for _, region := range events(t, src, 0).Flow.Region {
			n[region]++
		}
		return n
	}
	if d := cmp.Diff(calls(src), calls(rebuilt)); d != "" {
		t.Errorf("calls differ:\n%s", d)
	}
	if n := report.Statistics.Disordered; n < 15000 || n > 20500 {
		t.Errorf("%d events of 20,500 in main are in an order that is made up", n)
	}
	if l, want := length(t, rebuilt), length(t, src); l < want-want/1000 || l > want {
		t.Errorf("takes %d instead of %d", l, want)
	}
}

// Counters end at the value that they had, and grow where they grew; attributes and
// arguments that follow a rule come back.
func TestFieldsAndMetrics(t *testing.T) {
	src := &trace.MemorySource{Definitions: worldDefs(1, "main", "work")}
	b := &trace.Batch{}
	b.Reset(0, 0)
	cycles, joule := uint64(1_000_000), 0.5
	for i := range 100 {
		time := int64(100 * i)
		b.AddAttr(3, trace.TypeUint32, uint64(i%3))
		b.AddFlow(time, trace.KindEnter, 1)
		b.AddMetric(time+1, 0, []trace.ValueType{trace.TypeUint64, trace.TypeDouble}, []uint64{cycles, math.Float64bits(joule)})
		cycles += 1600
		joule += 0.25
		b.AddOther(time+50, trace.KindParameterInt, 2, uint64(i))
		b.AddMetric(time+60, 0, []trace.ValueType{trace.TypeUint64, trace.TypeDouble}, []uint64{cycles, math.Float64bits(joule)})
		b.AddFlow(time+70, trace.KindLeave, 1)
	}
	src.Batches = [][]*trace.Batch{{b}}
	name, report := compress(t, src, tkf.Options{Mode: tkf.Statistics})
	got := events(t, openTKF(t, name), 0)
	checkSameFlow(t, b, got)
	checkSameFields(t, b, got)
	if f := report.Statistics.Fields; f.Learned != 3 || f.Constructs != 3 {
		t.Errorf("%d of %d fields learned", f.Learned, f.Constructs)
	}
	for i, typ := range b.Metric.Type {
		want, is := float64(b.Metric.Value[i]), float64(got.Metric.Value[i])
		if typ == trace.TypeDouble {
			want, is = math.Float64frombits(b.Metric.Value[i]), math.Float64frombits(got.Metric.Value[i])
		}
		if math.Abs(want-is) > 1600 {
			t.Fatalf("value %d: %v instead of %v", i, is, want)
		}
	}
}
