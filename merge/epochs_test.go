package merge_test

import (
	"slices"
	"testing"

	"tracekit/merge"
	"tracekit/trace"
	"tracekit/trace/tracetest"
)

// TestOpenEpochs states that one-sided operations are a finding where none of the calls that complete them is recorded.
func TestOpenEpochs(t *testing.T) {
	const put, fence, create = "  1 Enter MPI_Put ; 2 Leave MPI_Put\n", "  3 Enter MPI_Win_fence ; 4 Leave MPI_Win_fence\n",
		"  0 Enter MPI_Win_create ; 1 Leave MPI_Win_create\n"
	for text, want := range map[string]uint64{put: 1, create + put: 1, put + fence: 0, create: 0,
		"  1 Enter MPI_Rput ; 2 Leave MPI_Rput\n": 0} { // a call that completes a request completes it
		tr, err := merge.Merge(t.Context(), tracetest.MustParse(t, "location 0 rank=0\n"+text), merge.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer tr.Store.Close()
		got := uint64(0)
		if i := slices.IndexFunc(tr.Findings, func(f trace.Finding) bool { return f.Code == trace.CodeOpenEpoch }); i >= 0 {
			got = tr.Findings[i].Count
		}
		if got != want {
			t.Errorf("%d functions are named, want %d:\n%s", got, want, text)
		}
	}
}
