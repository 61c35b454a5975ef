package merge

import (
	"fmt"
	"slices"
	"testing"

	"tracekit/engine"
	"tracekit/samples"
	"tracekit/spill"
	"tracekit/trace"
)

// TestJoinsAgree: instances that are made on all cores, in rows known beforehand, are those
// that are made one by one.
func TestJoinsAgree(t *testing.T) {
	src, _, err := samples.InMemory(t.Context(), samples.Options{Program: "collectives", Ranks: 6, Iterations: 300, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	collected := func(jobs int, oneByOne bool) string {
		store := spill.NewStore(64<<20, t.TempDir())
		defer store.Close()
		f := newFacts(src.Defs())
		scanned, err := scan(t.Context(), src, f, store, engine.Options{Jobs: jobs})
		if err != nil {
			t.Fatal(err)
		}
		for _, l := range scanned {
			l.stray = oneByOne
		}
		var ledger trace.Ledger
		tr := settle(src, f, store, scanned)
		clocks := newClockwork(tr, &ledger, Options{})
		c := &collector{trace: tr, resolver: f.resolver, scanned: scanned, ledger: &ledger, clocks: clocks, jobs: jobs}
		if err := c.collect(t.Context()); err != nil {
			t.Fatal(err)
		}
		if n := tr.Collectives.Len(); n < 4*chunk {
			t.Fatalf("%d instances are too few to be an item for several", n)
		}
		all := func(yield func(string) bool) {
			for i := range tr.Collectives.Len() {
				yield(fmt.Sprintf("%+v\n", tr.Collectives.At(i)))
			}
			for i := range tr.Members.Len() {
				yield(fmt.Sprintf("%+v\n", tr.Members.At(i)))
			}
		}
		return fmt.Sprint(slices.Collect(all), clocks.found.raw, ledger.Findings())
	}
	want := collected(1, true)
	for _, jobs := range []int{1, 4} {
		if got := collected(jobs, false); got != want {
			t.Errorf("jobs=%d: other instances than one by one", jobs)
		}
	}
}
