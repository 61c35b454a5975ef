package tkf_test

import (
	"math"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tracekit/formulae"
	"tracekit/formulae/sequence"
	"tracekit/formulae/tkf"
	"tracekit/reconstruct"
	"tracekit/trace"
)

// The annotated call tree of a file is that of the trace: visits are counted, times of all
// call paths add up to what passed between the first and the last event of the location, and
// what the file says is what was learned.
func TestAnnotatedTree(t *testing.T) {
	for _, path := range archives(t, "../../samples/archives") {
		src := openTrace(t, path)
		p, err := formulae.Learn(t.Context(), src, formulae.Options{})
		if err != nil {
			t.Fatal(err)
		}
		name, report := compress(t, src, tkf.Options{Mode: tkf.Statistics})
		file := openTKF(t, name).(*reconstruct.Source)
		again, err := formulae.Learn(t.Context(), file, formulae.Options{}) // of the events that the file keeps
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(formulae.LearnedOf(p.Locations), formulae.LearnedOf(again.Locations)); d != "" {
			t.Errorf("%s: learned, and read from the file:\n%s", path, d)
		}
		trees := formulae.Annotate(src.Defs(), p.Locations)
		seen := 0
		for _, tree := range trees {
			seen += len(tree.Locations)
			for i, l := range tree.Locations {
				checkAnnotated(t, path, src, &tree, i, trace.LocationID(l), p.Locations[l].Length)
			}
		}
		if seen != len(src.Defs().Locations) || report.Exact.Locations != seen {
			t.Errorf("%s: %d trees of %d locations, of %d of %d all events in the file", path, len(trees), seen, report.Exact.Locations,
				len(src.Defs().Locations))
		}
	}
}

// A file says what its formulae could be, and so does what is rebuilt from it.
func TestFileKeepsForm(t *testing.T) {
	src := openTrace(t, "../../samples/archives/ring-4/traces.otf2")
	form := sequence.Form{Terms: 7, Paper: true}
	name, _ := compress(t, src, tkf.Options{Mode: tkf.Statistics, Form: form, Durations: formulae.Laws})
	file := openTKF(t, name).(*reconstruct.Source)
	if m := file.Model(); m.Form != form || m.Durations != formulae.Laws {
		t.Errorf("form %+v, durations %s", m.Form, m.Durations)
	}
	want := filepath.Base(name) + ": formulae of the paper's kinds of 7 terms, durations law"
	if got := file.Info().Properties[trace.PropertyRebuiltFrom]; got != want {
		t.Errorf("rebuilt from %q, want %q", got, want)
	}
}

func checkAnnotated(t *testing.T, path string, src trace.Source, tree *formulae.AnnotatedTree, i int, l trace.LocationID, length int64) {
	t.Helper()
	sum, visits, entered := int64(0), uint64(0), uint64(0)
	for _, n := range tree.Nodes {
		sum += n.ExclusiveNs[i]
		visits += n.Visits
	}
	want := src.Defs().Clock.Nanoseconds(length)
	if math.Abs(float64(sum-want)) > float64(visits)/8+float64(len(tree.Nodes)) ||
		math.Abs(float64(tree.Nodes[0].InclusiveNs[i]-want)) > float64(visits)/8+float64(len(tree.Nodes)) {
		t.Errorf("%s location %d: exclusive times are %d ns, that of all is %d, of %d", path, l, sum, tree.Nodes[0].InclusiveNs[i], want)
	}
	for _, k := range events(t, src, l).Flow.Kind {
		if k.Enters() {
			entered++
		}
	}
	if visits != entered+1 {
		t.Errorf("%s location %d: %d visits, %d enters", filepath.Base(path), l, visits-1, entered)
	}
	if !slices.IsSorted(tree.Locations) {
		t.Errorf("%s: locations %v", path, tree.Locations)
	}
}
