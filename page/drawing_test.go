package page

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"sort"
	"testing"

	"tracekit/samples"
	"tracekit/spill"
	"tracekit/stats/analysis"
	"tracekit/stats/profile"
	"tracekit/stats/statstest"
)

// TestDrawingBesideAnalysis: a timeline that hears what an analysis decodes is that of a pass of its
// own, at every resolution.
func TestDrawingBesideAnalysis(t *testing.T) {
	tr, a := analyzed(t, samples.Options{Program: "halo", Ranks: 6, Iterations: 40})
	for _, runs := range []int{1 << 20, 300} {
		limits := Limits{Runs: runs, Messages: 100, Collectives: 10, Stretches: 10, Pieces: runs}
		own, err := NewTimeline(t.Context(), tr, a, limits, 1)
		if err != nil {
			t.Fatal(err)
		}
		for _, jobs := range []int{1, 3} {
			d := NewDrawing(tr, limits)
			again := statstest.Analysis(t, tr, analysis.Options{Jobs: jobs, Observers: []profile.Observer{d}})
			beside, err := d.Timeline(t.Context(), again, jobs)
			if err != nil || !bytes.Equal(slices.Concat(beside.numbers()...), slices.Concat(own.numbers()...)) ||
				!slices.Equal(beside.Activities, own.Activities) {
				t.Errorf("%d runs, %d jobs: another timeline, %v", runs, jobs, err)
			}
		}
	}
}

// TestOrdered: a time is found where a search through all rows finds it, of few rows and of many.
func TestOrdered(t *testing.T) {
	store := spill.NewStore(0, t.TempDir())
	defer store.Close()
	r := rand.New(rand.NewPCG(7, 7))
	for _, n := range []int{0, 1, postEvery - 1, postEvery, postEvery + 1, 20 * postEvery} {
		table := newOrdered(store, func(v *int64) *int64 { return v })
		at, last := []int64(nil), int64(0)
		for range n {
			at = append(at, last)
			table.add(last)
			last += r.Int64N(3)
		}
		table.seal()
		for range 300 {
			from := r.Int64N(last+3) - 1
			past := func(t int64) bool { return t >= from }
			got, want := table.before(past), sort.Search(n, func(i int) bool { return past(at[i]) })
			if got != want {
				t.Fatalf("%d rows: %d lie before %d, want %d", n, got, from, want)
			}
		}
	}
}
