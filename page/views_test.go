package page

import (
	"testing"

	"tracekit/merge"
	"tracekit/reduce"
	"tracekit/samples"
	"tracekit/stats/analysis"
	"tracekit/stats/statstest"
	"tracekit/stats/studies/sampling"
)

// TestViews states of each call path that its calls have the time of the call sites, that a sample of all messages has their latency, and
// that a rule keeps all but the calls that it names.
func TestViews(t *testing.T) {
	tr, a := statstest.Analyzed(t, statstest.Generated(t, samples.Options{Program: "halo", Ranks: 4, Iterations: 20, Seed: 1}),
		merge.Options{}, analysis.Options{})
	all, err := sampling.Parse("P-1-STAT", sampling.Defaults{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	m := &More{}
	rules := []reduce.Rule{reduce.Functions{Names: []string{"MPI_Allreduce"}}}
	if err := m.AddViews(t.Context(), tr, a, &all, rules, 2); err != nil {
		t.Fatal(err)
	}
	time, latency := int64(0), int64(0)
	for _, r := range m.tables.Views.Rows {
		time += r.TimeNs
		if want := map[bool]float64{false: 1}[r.CallPath == "main > norm > MPI_Allreduce"]; *r.Kept != want {
			t.Errorf("%s: %g is kept, want %g", r.CallPath, *r.Kept, want)
		}
		if r.LatencyNs == nil {
			continue
		}
		latency += *r.LatencyNs
		if int64(*r.SampledNs) != *r.LatencyNs || *r.LowNs != *r.SampledNs || *r.HighNs != *r.SampledNs {
			t.Errorf("%s: %d ns, sampled %g", r.CallPath, *r.LatencyNs, *r.SampledNs)
		}
	}
	sites := int64(0)
	for _, s := range a.CallSites {
		sites += s.TimeNs
	}
	if time != sites {
		t.Errorf("the calls take %d ns, the call sites %d", time, sites)
	}
	want := int64(0)
	for _, c := range a.CommMatrix {
		want += c.TimeNs
	}
	if latency != want {
		t.Errorf("the messages take %d ns, want %d", latency, want)
	}
}
