package analysis_test

import (
	"context"
	"fmt"
	"iter"
	"runtime"
	"testing"

	"tracekit/merge"
	"tracekit/spill"
	"tracekit/stats/analysis"
	"tracekit/trace"
	"tracekit/trace/tracetest"
)

// threads is a trace of very many threads that enter and leave two regions each, which are made
// when they are asked for.
type threads struct {
	defs *trace.Defs
	own  bool // the second region is the location's own
}

func newThreads(n int, own bool) *threads {
	t := &threads{defs: &trace.Defs{Strings: []string{"", "main", "work"}, Locations: make([]trace.Location, n)}, own: own}
	t.defs.Clock.Resolution = 1e9
	t.defs.LocationGroups = []trace.LocationGroup{{Kind: 1}}
	t.defs.Regions = []trace.Region{{Name: 1, File: trace.None}, {Name: 2, File: trace.None}}
	for l := range t.defs.Locations {
		t.defs.Locations[l] = trace.Location{Ref: uint64(l), Kind: trace.LocationCPUThread, Events: 4}
		if own {
			t.defs.Strings = append(t.defs.Strings, fmt.Sprint("work ", l))
			t.defs.Regions = append(t.defs.Regions, trace.Region{Name: trace.StringID(3 + l), File: trace.None})
		}
	}
	return t
}

func (t *threads) Info() trace.Info          { return trace.Info{Path: "threads", Format: "memory"} }
func (t *threads) Defs() *trace.Defs         { return t.defs }
func (t *threads) Findings() []trace.Finding { return nil }
func (t *threads) Close() error              { return nil }

func (t *threads) Events(_ context.Context, l trace.LocationID) iter.Seq2[*trace.Batch, error] {
	return func(yield func(*trace.Batch, error) bool) {
		work, at := trace.RegionID(1), int64(l%7)
		if t.own {
			work = trace.RegionID(2 + l)
		}
		b := new(trace.Batch)
		b.Reset(l, 0)
		b.AddFlow(at, trace.KindEnter, 0)
		b.AddFlow(at+10, trace.KindEnter, work)
		b.AddFlow(at+20, trace.KindLeave, work)
		b.AddFlow(at+40, trace.KindLeave, 0)
		yield(b, nil)
	}
}

// analyze returns what is still held of the heap once a trace is analyzed, in bytes, with the
// analysis.
func (t *threads) analyze(tb testing.TB) (held int64, a *analysis.Result) {
	before := tracetest.LiveBytes()
	store := spill.NewStore(0, tb.TempDir())
	defer store.Close()
	tr, err := merge.Merge(tb.Context(), t, merge.Options{Store: store})
	if err != nil {
		tb.Fatal(err)
	}
	if a, err = analysis.Analyze(tb.Context(), tr, analysis.Options{}); err != nil {
		tb.Fatal(err)
	}
	held = tracetest.LiveBytes() - before
	runtime.KeepAlive(tr)
	return held, a
}

// TestManyLocations: a location with a handful of events takes little memory beside what the
// store keeps, and all of them are there.
func TestManyLocations(t *testing.T) {
	const n, most = 20_000, 800 // bytes
	held, a := newThreads(n, false).analyze(t)
	if held > n*most {
		t.Errorf("%d bytes are held for each location, want at most %d", held/n, most)
	}
	if len(a.Profile) != 2 || a.Profile[0].Count != n || a.Profile[0].ExclusiveNs != 30*n || a.Profile[1].InclusiveNs != 10*n {
		t.Errorf("the profile is %+v", a.Profile)
	}
}

// recursion is a trace in which main calls work, which calls itself so many times, and once more after all
// were left.
type recursion struct {
	threads
	calls int
}

func (t *recursion) Events(_ context.Context, l trace.LocationID) iter.Seq2[*trace.Batch, error] {
	return func(yield func(*trace.Batch, error) bool) {
		b := new(trace.Batch)
		b.Reset(l, 0)
		add := func(kind trace.Kind, region trace.RegionID) { b.AddFlow(int64(b.Len()), kind, region) }
		add(trace.KindEnter, 0)
		for range t.calls {
			add(trace.KindEnter, 1)
		}
		for range t.calls {
			add(trace.KindLeave, 1)
		}
		add(trace.KindEnter, 1)
		add(trace.KindLeave, 1)
		add(trace.KindLeave, 0)
		yield(b, nil)
	}
}

// TestEndlessRecursion: calls that are too deep for the stack end others, which then were not left, so
// that as many leaves find nothing; whoever has called all that is left at the right time.
func TestEndlessRecursion(t *testing.T) {
	const more = 1000 // than there is room for
	src := &recursion{*newThreads(1, false), trace.MaxDepth - 1 + more}
	tr, err := merge.Merge(t.Context(), src, merge.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer tr.Store.Close()
	for _, f := range tr.Findings {
		if f.Count != more || f.Code != trace.CodeOpenRegion && f.Code != trace.CodeUnmatchedLeave {
			t.Errorf("%d of %s", f.Count, f.Code)
		}
	}
	a, err := analysis.Analyze(t.Context(), tr, analysis.Options{})
	if err != nil {
		t.Fatal(err)
	}
	run, main := int64(2*src.calls+3), a.Profile[0]
	if main.Region != "main" {
		main = a.Profile[1]
	}
	if len(tr.Findings) != 2 || main.Count != 1 || main.InclusiveNs != run || a.Profile[0].ExclusiveNs+a.Profile[1].ExclusiveNs != run {
		t.Errorf("of %d ns, the profile is %+v", run, a.Profile)
	}
}

// BenchmarkLocations measures the analysis of very many locations, which have regions in common
// or of their own: the cost of a location must not grow with their number.
func BenchmarkLocations(b *testing.B) {
	for _, own := range []bool{false, true} {
		for _, n := range []int{1e3, 1e4, 1e5, 1e6} {
			b.Run(fmt.Sprintf("own=%v/locations=%d", own, n), func(b *testing.B) {
				src, held := newThreads(n, own), int64(0)
				for b.Loop() {
					held, _ = src.analyze(b)
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/location")
				b.ReportMetric(float64(held)/float64(n), "held-B/location")
			})
		}
	}
}
