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
