package tkf_test

import (
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"tracekit/document/waitstate"
	"tracekit/formulae"
	"tracekit/formulae/tkf"
	"tracekit/merge"
	"tracekit/samples"
	"tracekit/stats/analysis"
	"tracekit/trace"
	"tracekit/trace/tracetest"
)

// checkExact checks that events came back as they were, but for times and metrics.
func checkExact(t *testing.T, want, got trace.Source) {
	t.Helper()
	for l := range want.Defs().Locations {
		a, b := events(t, want, trace.LocationID(l)), events(t, got, trace.LocationID(l))
		times := cmpopts.IgnoreFields(trace.Flow{}, "Time")
		if d := cmp.Diff([]any{a.Order, a.Flow, a.P2P, a.Coll, a.Other, a.Attrs, a.Metric.Metric, a.Metric.Type},
			[]any{b.Order, b.Flow, b.P2P, b.Coll, b.Other, b.Attrs, b.Metric.Metric, b.Metric.Type}, times,
			cmpopts.IgnoreFields(trace.P2P{}, "Time"), cmpopts.IgnoreFields(trace.Coll{}, "Time"),
			cmpopts.IgnoreFields(trace.Other{}, "Time"), cmpopts.EquateEmpty()); d != "" {
			t.Fatalf("location %d differs:\n%.1500s", l, d)
		}
	}
}

// lateSender returns the time that calls wait behind late senders, in ns.
func lateSender(t *testing.T, src trace.Source) float64 {
	t.Helper()
	m, err := merge.Merge(t.Context(), src, merge.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Store.Close()
	r, err := analysis.Analyze(t.Context(), m, analysis.Options{Top: 1})
	if err != nil {
		t.Fatal(err)
	}
	return float64(r.WaitStates[waitstate.LateSender].TimeNs)
}

// All messages are kept, all events where they are kept exactly, and calls wait behind late senders as long as they did, in smaller files
// than those with all events.
func TestExactSamples(t *testing.T) {
	for _, path := range archives(t, "../../samples/archives") {
		t.Run(filepath.Base(filepath.Dir(path)), func(t *testing.T) {
			src := openTrace(t, path)
			name, r := compress(t, src, tkf.Options{Mode: tkf.Statistics, Durations: formulae.Laws, Seed: 1})
			if r.Exact.Kept != r.Exact.Messages || r.Exact.Messages != r.Learned.Messages.Sent {
				t.Errorf("%+v of %+v", r.Exact, r.Learned.Messages)
			}
			rebuilt := openTKF(t, name)
			if r.Exact.Locations == len(src.Defs().Locations) {
				checkExact(t, src, rebuilt)
			}
			want, got := lateSender(t, src), lateSender(t, rebuilt)
			t.Logf("%+v, late sender %.4g of %.4g ms", *r.Exact, got/1e6, want/1e6)
			if math.Abs(got-want) > 0.1*want {
				t.Errorf("late sender %.4g ms, recorded %.4g ms", got/1e6, want/1e6)
			}
		})
	}
}

// The same of further archives, but for those that the documentation names.
func TestExactShared(t *testing.T) {
	for _, path := range archives(t, tracetest.Shared(t, "otf2")) {
		t.Run(filepath.Base(filepath.Dir(path)), func(t *testing.T) {
			src := openTrace(t, path)
			name, r := compress(t, src, tkf.Options{Mode: tkf.Statistics, Durations: formulae.Laws, Seed: 1})
			if r.Exact.Kept != r.Exact.Messages {
				t.Errorf("%+v", r.Exact)
			}
			want, got := lateSender(t, src), lateSender(t, openTKF(t, name))
			if t.Logf("late sender %.4g of %.4g ms", got/1e6, want/1e6); math.Abs(got-want) > 0.1*want {
				t.Errorf("late sender %.4g ms, recorded %.4g ms", got/1e6, want/1e6)
			}
		})
	}
}

// lawless returns a run of two ranks that follows no rule: messages of any size with any tag, in bursts of any length.
func lawless(iterations int) *trace.MemorySource {
	src := &trace.MemorySource{Definitions: worldDefs(2, "main", "MPI_Send", "MPI_Recv", "a", "b", "c")}
	r := rand.New(rand.NewPCG(1, 2))
	batches := [2]*trace.Batch{{}, {}}
	batches[0].Reset(0, 0)
	batches[1].Reset(1, 0)
	now := int64(0)
	for range iterations {
		now += 100 + r.Int64N(1000)
		for range 1 + r.IntN(6) {
			tag, bytes := uint32(r.IntN(100)), r.Uint64N(1<<20)
			for rank, b := range batches {
				region, kind := trace.RegionID(1+rank), []trace.Kind{trace.KindMpiSend, trace.KindMpiRecv}[rank]
				call := trace.RegionID(3 + r.IntN(3))
				now += r.Int64N(50)
				b.AddFlow(now, trace.KindEnter, call)
				b.AddFlow(now+1, trace.KindEnter, region)
				b.AddP2P(trace.P2PRow{Time: now + 2, Kind: kind, Peer: uint32(1 - rank), Tag: tag, Bytes: bytes})
				b.AddFlow(now+4, trace.KindLeave, region)
				b.AddFlow(now+5, trace.KindLeave, call)
			}
		}
	}
	src.Batches = [][]*trace.Batch{{batches[0]}, {batches[1]}}
	return src
}

// An irregular run is kept exactly as long as that has room within the bound; of a longer one there are formulae, and the report says so.
// The bound of the shortest holds for all, but for the outliers and terms that a longer run may use.
func TestIrregularBound(t *testing.T) {
	var kept []int
	for _, n := range []int{4, 300, 3000, 30000} {
		name, r := compress(t, lawless(n), tkf.Options{Mode: tkf.Statistics, Durations: formulae.Laws, Seed: 1})
		info, err := os.Stat(name)
		if err != nil || info.Size() != r.Sizes.File || r.Sizes.File > *r.Sizes.Bound || r.Sizes.File > 30_000 {
			t.Errorf("%d iterations: %d bytes, bound %d, %v", n, r.Sizes.File, *r.Sizes.Bound, err)
		}
		t.Logf("%d iterations: %d bytes of at most %d, %+v, %d sequences not learned", n, r.Sizes.File, *r.Sizes.Bound, *r.Exact,
			len(r.Unlearned))
		kept = append(kept, r.Exact.Locations)
		if r.Exact.Locations == 0 && (r.Exact.Kept != 0 || r.Unlearned[0].Values < uint64(n)/3) {
			t.Errorf("%d iterations: %+v, unlearned first: %+v", n, r.Exact, r.Unlearned[0])
		}
		if (len(r.Unlearned) == 0) != (r.Exact.Locations == 2) {
			t.Errorf("%d iterations: exact at %d locations, %d sequences not learned", n, r.Exact.Locations, len(r.Unlearned))
		}
		openTKF(t, name)
	}
	if kept[0] != 2 || kept[3] != 0 {
		t.Errorf("exact at %v locations", kept)
	}
}

// Bursts of any length: the bound holds however long the run is.
func TestLongBursts(t *testing.T) {
	for _, n := range []int{10, 1000, 5000} {
		src := generate(t, samples.Options{Program: "burst", Ranks: 4, Iterations: n, Seed: 1})
		_, r := compress(t, src, tkf.Options{Mode: tkf.Statistics, Durations: formulae.Laws, Seed: 1})
		if r.Sizes.File > *r.Sizes.Bound {
			t.Errorf("%d iterations: %d bytes, bound %d", n, r.Sizes.File, *r.Sizes.Bound)
		}
		t.Logf("%d iterations: %d bytes of at most %d, %+v", n, r.Sizes.File, *r.Sizes.Bound, *r.Exact)
	}
}

// The seed, and nothing else, decides the bytes.
func TestSameSeedSameBytes(t *testing.T) {
	src := generate(t, samples.Options{Program: "halo", Ranks: 4, Iterations: 100, Seed: 3})
	bytes := func(seed uint64, jobs int) []byte {
		name, _ := compress(t, src, tkf.Options{Mode: tkf.Statistics, Durations: formulae.Laws, Seed: seed, Jobs: jobs})
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	one := bytes(1, 1)
	if !slices.Equal(one, bytes(1, 4)) || slices.Equal(one, bytes(2, 1)) {
		t.Error("the seed does not decide")
	}
}

// A time that is kept alone is off by a fifty thousandth at most, whatever it is.
func TestOutlierTimes(t *testing.T) {
	for bit := range 60 {
		for _, d := range []uint64{1 << bit, 1<<bit + 1<<bit/3, 1<<(bit+1) - 1} {
			l := formulae.Location{Tree: &formulae.Tree{Nodes: []formulae.Node{{Items: []formulae.Item{{}}}}}, Sums: []formulae.Sum{{Count: 1}},
				Far: []formulae.Far{{Time: d}}, Times: formulae.Times{Means: make([]uint64, 1)}}
			l.Keep(1)
			got := formulae.OutlierTime(l.Times.Outliers[0].Code)
			if diff := max(got, d) - min(got, d); diff > d/50000 {
				t.Errorf("%d comes back as %d", d, got)
			}
			if err := l.Times.CheckOrder(); err != nil {
				t.Errorf("%d: %v", d, err)
			}
		}
	}
}
