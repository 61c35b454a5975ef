package whatif_test

import (
	"reflect"
	"strings"
	"testing"

	"tracekit/merge"
	"tracekit/samples"
	"tracekit/stats/analysis"
	"tracekit/stats/statstest"
	"tracekit/stats/whatif"
	"tracekit/trace"
	"tracekit/trace/tracetest"
)

// model returns the model of a trace.
func model(t *testing.T, src trace.Source) (*trace.Trace, *whatif.Model) {
	t.Helper()
	tr, a := statstest.Analyzed(t, src, merge.Options{Clock: merge.ClockNone}, analysis.Options{})
	m, err := whatif.New(t.Context(), tr, a, 1)
	if err != nil {
		t.Fatal(err)
	}
	return tr, m
}

// TestHalfOfTheWork: rank 1 waits from 10 to 100 for what rank 0 sends after its work. With half of the
// work it waits until 50, and all that follows comes 50 earlier; twice the work lets it come 100 later. What
// rank 1 does meanwhile gains nothing: it waits longer instead.
func TestHalfOfTheWork(t *testing.T) {
	t.Parallel()
	_, m := model(t, tracetest.MustParse(t, `
location 0 rank=0
  0 Enter main ; 0 Enter work ; 100 Leave work
  100 Enter MPI_Send ; 100 MpiSend to=1 bytes=8 ; 110 Leave MPI_Send ; 120 Leave main
location 1 rank=1
  0 Enter main ; 0 Enter early ; 10 Leave early
  10 Enter MPI_Recv ; 110 MpiRecv from=0 bytes=8 ; 110 Leave MPI_Recv
  110 Enter after ; 210 Leave after ; 210 Leave main
`))
	for _, c := range []struct {
		place  string
		factor float64
		want   int64
	}{{"work", 1, 210}, {"work", 0.5, 160}, {"work", 2, 310}, {"after", 0.5, 160}, {"after", 0, 120}, {"early", 0, 210}, {"early", 5, 210}} {
		place, err := m.Place(c.place)
		if err != nil {
			t.Fatal(err)
		}
		p, err := m.Predict(t.Context(), whatif.Scale(place, c.factor))
		if err != nil || p.RunTime != c.want || p.Baseline != 210 || p.Gain() != 210-c.want {
			t.Errorf("%s times %v: %+v, want %d of 210 (%v)", c.place, c.factor, p, c.want, err)
		}
	}
}

// TestScaleRelations: the same change told in other words predicts the same run.
func TestScaleRelations(t *testing.T) {
	t.Parallel()
	tr, m := model(t, statstest.Generated(t, samples.Options{Program: "halo", Ranks: 4, Iterations: 10, Seed: 3, Compute: 8192, Steady: true}))
	place, err := m.Place("interior")
	if err != nil {
		t.Fatal(err)
	}
	found, err := whatif.FindPlace(tr, "interior")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name      string
		one, same []whatif.Change
	}{
		{"nothing", nil, []whatif.Change{whatif.Scale(place, 1)}},
		{"all at their speed", nil, []whatif.Change{whatif.RankSpeed(1)}},
		{"factors multiply", []whatif.Change{whatif.Scale(place, 0.25), whatif.Scale(place, 8)}, []whatif.Change{whatif.Scale(place, 2)}},
		{"in another order", []whatif.Change{whatif.Scale(place, 4), whatif.RankSpeed(2, 1)},
			[]whatif.Change{whatif.RankSpeed(2, 1), whatif.Scale(place, 4)}},
		{"each rank", []whatif.Change{whatif.ScaleEach(place, []float64{2, 2, 2, 2})}, []whatif.Change{whatif.Scale(place, 2)}},
		{"some ranks", []whatif.Change{whatif.ScaleEach(place, []float64{1, 3})}, []whatif.Change{whatif.Scale(place, 3, 1)}},
		{"rank by rank", []whatif.Change{whatif.Scale(place, 2, 0, 3), whatif.Scale(place, 2, 1), whatif.Scale(place, 2, 2)},
			[]whatif.Change{whatif.Scale(place, 2)}},
		{"a place of the trace", []whatif.Change{whatif.Scale(found, 0.5)}, []whatif.Change{whatif.Scale(place, 0.5)}},
	} {
		p, err := m.PredictAll(t.Context(), [][]whatif.Change{c.one, c.same})
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(p[0], p[1]) {
			t.Errorf("%s: %+v, in other words %+v", c.name, p[0], p[1])
		}
		if moves := c.one != nil; moves == (p[0].Gain() == 0) {
			t.Errorf("%s: gains %d", c.name, p[0].Gain())
		}
	}
	named := false
	for p := range tr.Tree.Nodes {
		if place(trace.PathID(p)) {
			named = true
			if got := m.NameOf(trace.PathID(p)); got != "interior" {
				t.Errorf("the place is called %q", got)
			}
		}
	}
	if _, err := m.Place("interor"); !named || err == nil || !strings.Contains(err.Error(), "interior") {
		t.Errorf("a place that is misspelt: %v", err)
	}
}
