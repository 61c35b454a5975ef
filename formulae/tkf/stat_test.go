package tkf_test

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"tracekit/formulae"
	"tracekit/formulae/tkf"
	"tracekit/trace"
	"tracekit/trace/tracetest"
)

// kinds counts the events of a trace by kind.
func kinds(t testing.TB, src trace.Source) map[trace.Kind]int {
	t.Helper()
	n := make(map[trace.Kind]int)
	for l := range src.Defs().Locations {
		for b := range tracetest.Batches(t, src, trace.LocationID(l)) {
			if err := b.Check(); err != nil {
				t.Fatal(err)
			}
			for _, list := range [][]trace.Kind{b.Flow.Kind, b.P2P.Kind, b.Coll.Kind, b.Other.Kind} {
				for _, k := range list {
					n[k]++
				}
			}
			for _, table := range b.Order {
				if table == trace.TableMetric {
					n[trace.KindMetric]++
				}
			}
		}
	}
	return n
}

func TestStatisticsOfSamples(t *testing.T) {
	for _, path := range archives(t, "../../samples/archives") {
		t.Run(filepath.Base(filepath.Dir(path)), func(t *testing.T) { checkStatistics(t, path) })
	}
}

func TestStatisticsOfRealTraces(t *testing.T) {
	for _, path := range archives(t, tracetest.Shared(t, "otf2")) {
		t.Run(filepath.Base(filepath.Dir(path)), func(t *testing.T) { checkStatistics(t, path) })
	}
}

// checkStatistics checks that a file in stat mode keeps its bound, that every event comes
// back (but leaves of what was never entered, which are counted, as are those that are added),
// and in the recorded order where control flow was learned.
func checkStatistics(t *testing.T, path string) {
	src := openTrace(t, path)
	name, r := compress(t, src, tkf.Options{Mode: tkf.Statistics})
	if r.Sizes.Bound == nil || r.Sizes.File > *r.Sizes.Bound {
		t.Errorf("%d bytes, bound %v", r.Sizes.File, r.Sizes.Bound)
	}
	rebuilt := openTKF(t, name)
	defs := *src.Defs()
	defs.Topologies = nil // made by the reader of OTF2
	defs.Locations = slices.Clone(defs.Locations)
	for l := range defs.Locations { // rebuilt times are on one clock already, and counts are those of what is there
		defs.Locations[l].ClockOffsets = nil
		defs.Locations[l].Events = uint64(events(t, rebuilt, trace.LocationID(l)).Len())
	}
	if d := cmp.Diff(&defs, rebuilt.Defs()); d != "" || !rebuilt.Info().Reconstructed() {
		t.Errorf("definitions differ:\n%s", d)
	}
	before, after := kinds(t, src), kinds(t, rebuilt)
	if s := r.Statistics; s.DroppedEvents+s.AddedEvents > 0 {
		before[trace.KindLeave] += int(s.AddedEvents) - int(s.DroppedEvents)
	}
	if d := cmp.Diff(before, after); d != "" {
		t.Errorf("numbers of events differ:\n%s", d)
	}
	b := r.Learned.Branches
	t.Logf("%d bytes -> %d of at most %d; branches learned %d of %d; %v", r.Sizes.Trace, r.Sizes.File, *r.Sizes.Bound, b.Learned,
		b.Constructs, rebuilt.Findings())
	if b.Learned < b.Constructs || r.Statistics.DroppedEvents+r.Statistics.AddedEvents > 0 {
		return
	}
	for l := range src.Defs().Locations {
		a, b := events(t, src, trace.LocationID(l)), events(t, rebuilt, trace.LocationID(l))
		checkSameFlow(t, a, b)
		if complete(r.Learned) {
			checkSamePartners(t, a, b)
		}
		if f := r.Statistics.Fields; f.Learned == f.Constructs && r.Statistics.DroppedAttributes == 0 {
			checkSameFields(t, a, b)
		}
	}
}

func complete(l *formulae.Learned) bool {
	for _, s := range l.All() {
		if s.Learned < s.Constructs {
			return false
		}
	}
	return true
}

// checkSameFlow checks that control flow came back: the order of events, regions.
func checkSameFlow(t *testing.T, want, got *trace.Batch) {
	t.Helper()
	for _, d := range []string{
		cmp.Diff(want.Order, got.Order), cmp.Diff(want.Flow.Kind, got.Flow.Kind), cmp.Diff(want.Flow.Region, got.Flow.Region),
		cmp.Diff(want.Flow.Context, got.Flow.Context), cmp.Diff(want.P2P.Kind, got.P2P.Kind), cmp.Diff(want.Coll.Kind, got.Coll.Kind),
		cmp.Diff(want.Coll.Op, got.Coll.Op), cmp.Diff(want.Coll.Comm, got.Coll.Comm),
	} {
		if d != "" {
			t.Fatalf("control flow differs on location %d:\n%.1500s", want.Location, d)
		}
	}
}

// checkSamePartners checks that partners and tags came back.
func checkSamePartners(t *testing.T, want, got *trace.Batch) {
	t.Helper()
	for _, d := range []string{cmp.Diff(want.P2P.Peer, got.P2P.Peer), cmp.Diff(want.P2P.Comm, got.P2P.Comm),
		cmp.Diff(want.P2P.Tag, got.P2P.Tag)} {
		if d != "" {
			t.Fatalf("partners differ on location %d:\n%.1500s", want.Location, d)
		}
	}
}

// checkSameFields checks that arguments, unwind distances and attributes came back.
func checkSameFields(t *testing.T, want, got *trace.Batch) {
	t.Helper()
	if d := cmp.Diff(want.Flow.Unwind, got.Flow.Unwind); d != "" {
		t.Fatalf("unwind distances differ on location %d:\n%.1500s", want.Location, d)
	}
	if d := cmp.Diff(want.Other.Args, got.Other.Args); d != "" {
		t.Fatalf("arguments differ on location %d:\n%.1500s", want.Location, d)
	}
	if d := cmp.Diff(want.Attrs, got.Attrs, cmpopts.EquateEmpty()); d != "" {
		t.Fatalf("attributes differ on location %d:\n%.1500s", want.Location, d)
	}
}
