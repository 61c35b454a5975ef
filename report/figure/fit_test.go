package figure

import (
	"slices"
	"testing"

	"tracekit/stats/fit"
)

// TestSurfacesOfSeveralRuns: operations that were measured with several numbers of processes and of bytes have
// a picture of T(p, b).
func TestSurfacesOfSeveralRuns(t *testing.T) {
	p := &fit.Profile{Quantile: 0.99}
	for _, processes := range []int{2, 8} {
		for _, bytes := range []int64{1, 100} {
			p.Entries = append(p.Entries, fit.Entry{Key: fit.Key{Operation: "MPI_Bcast", Role: "leaf", Processes: processes, Bytes: bytes},
				TMax: 100})
		}
	}
	p.Entries = append(p.Entries, fit.Entry{Key: fit.Key{Operation: "MPI_Bcast", Role: "root", Processes: 2, Bytes: 1}, TMax: 100})
	got := surfaces(p)
	if len(got) != 1 || got[0].role != "leaf" || !slices.Equal(got[0].processes, []int{8, 6, 4, 3, 2}) ||
		!slices.Equal(got[0].bytes, []int64{1, 100}) {
		t.Errorf("surfaces %+v", got)
	}
}

// TestOtherLaws: a fit draws the accepted law alone, and says in words how the others did.
func TestOtherLaws(t *testing.T) {
	law := func(name fit.Family, accepted bool, dof int) fit.Model {
		return fit.Model{Family: name, Test: fit.Test{DOF: dof, Accepted: accepted, P: 0.25}}
	}
	models := []fit.Model{law("gamma", true, 5), law("weibull", true, 5), law("lognormal", false, 5), law("exponential", false, 0)}
	for chosen, want := range map[int]string{
		0:  "Also accepted: weibull (p = 0.25). Rejected: lognormal. Too few calls to judge: exponential.",
		-1: "No law is accepted. Rejected: lognormal. Too few calls to judge: exponential.",
	} {
		r := &fit.Result{Models: models, Chosen: chosen}
		if chosen < 0 {
			r.Models = models[2:]
		}
		if got := otherLaws(r); got != want {
			t.Errorf("law %d chosen: %q, want %q", chosen, got, want)
		}
	}
}
