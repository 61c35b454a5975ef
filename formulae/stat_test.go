package formulae_test

import (
	"context"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tracekit/formulae"
	"tracekit/trace"
)

// kinds counts the events of a trace by kind, leaving out what stat mode does not keep.
func kinds(t testing.TB, src trace.Source) map[trace.Kind]int {
	t.Helper()
	n := make(map[trace.Kind]int)
	for l := range src.Defs().Locations {
		for b, err := range src.Events(context.Background(), trace.LocationID(l)) {
			if err != nil {
				t.Fatal(err)
			}
			if err := b.Check(); err != nil {
				t.Fatal(err)
			}
			for _, list := range [][]trace.Kind{b.Flow.Kind, b.P2P.Kind, b.Coll.Kind} {
				for _, k := range list {
					n[k]++
				}
			}
		}
	}
	return n
}

func TestStatisticsOfSamples(t *testing.T) {
	for _, path := range archives(t, "../samples/archives") {
		t.Run(filepath.Base(filepath.Dir(path)), func(t *testing.T) { checkStatistics(t, path) })
	}
}

func TestStatisticsOfRealTraces(t *testing.T) {
	for _, path := range archives(t, shared(t)) {
		t.Run(filepath.Base(filepath.Dir(path)), func(t *testing.T) { checkStatistics(t, path) })
	}
}

// checkStatistics checks that a file in stat mode keeps its bound, and that it gives the
// same number of events of each kind where control flow was learned.
func checkStatistics(t *testing.T, path string) {
	src := openTrace(t, path)
	name, r := compress(t, src, formulae.Options{Mode: formulae.Statistics, Terms: 64})
	if r.Sizes.Bound == nil || r.Sizes.File > *r.Sizes.Bound {
		t.Errorf("%d bytes, bound %v", r.Sizes.File, r.Sizes.Bound)
	}
	rebuilt := openTKF(t, name)
	defs := *src.Defs()
	defs.Locations = slices.Clone(defs.Locations)
	for l := range defs.Locations { // rebuilt times are on one clock already
		defs.Locations[l].ClockOffsets = nil
	}
	if d := cmp.Diff(&defs, rebuilt.Defs()); d != "" || !rebuilt.Info().Reconstructed() {
		t.Errorf("definitions differ:\n%s", d)
	}
	before, after := kinds(t, src), kinds(t, rebuilt)
	b := r.Learned.Branches
	t.Logf("%d bytes -> %d of at most %d; branches learned %d of %d; %v", r.Sizes.Trace, r.Sizes.File, *r.Sizes.Bound, b.Learned, b.Constructs, rebuilt.Findings())
	if b.Learned < b.Constructs || unbalanced(before) {
		t.Logf("%v", cmp.Diff(before, after))
		return
	}
	if d := cmp.Diff(before, after); d != "" {
		t.Errorf("numbers of events differ:\n%s", d)
	}
	for l := range src.Defs().Locations {
		a, b := events(t, src, trace.LocationID(l)), events(t, rebuilt, trace.LocationID(l))
		checkSameFlow(t, a, b)
		if complete(r.Learned) {
			checkSamePartners(t, a, b)
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

// checkSameFlow checks that control flow came back: the order of events, regions. Other
// events are left out on the left side.
func checkSameFlow(t *testing.T, want, got *trace.Batch) {
	t.Helper()
	order := slices.DeleteFunc(slices.Clone(want.Order), func(t trace.TableID) bool { return t > trace.TableColl })
	for _, d := range []string{
		cmp.Diff(order, got.Order), cmp.Diff(want.Flow.Kind, got.Flow.Kind), cmp.Diff(want.Flow.Region, got.Flow.Region),
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
	for _, d := range []string{cmp.Diff(want.P2P.Peer, got.P2P.Peer), cmp.Diff(want.P2P.Comm, got.P2P.Comm), cmp.Diff(want.P2P.Tag, got.P2P.Tag)} {
		if d != "" {
			t.Fatalf("partners differ on location %d:\n%.1500s", want.Location, d)
		}
	}
}

// unbalanced reports whether a trace has more leaves than enters or the other way round:
// then what was called from where is not certain.
func unbalanced(n map[trace.Kind]int) bool {
	return n[trace.KindEnter] != n[trace.KindLeave] || n[trace.KindCallingContextEnter] != n[trace.KindCallingContextLeave]
}
