package analysis_test

import (
	"slices"
	"testing"

	"tracekit/merge"
	"tracekit/stats/analysis"
	"tracekit/trace/tracetest"
)

// TestOffload: of 90 outside MPI rank 0 only waits for its device 20, in a call that encloses another
// one, and 10; rank 1 of as much nothing. 150 of 180 is what hosts do not wait, 150 of 200 their efficiency.
func TestOffload(t *testing.T) {
	const hosts = `
process 0 host0
process 1 gpu kind=2 creator=0
process 2 host1
region 0 hipDeviceSynchronize paradigm=23
region 1 hsa_signal_wait_scacquire paradigm=23
region 2 k role=40 paradigm=23
location 0 thread process=0 kind=1 rank=0
  0 Enter main ; 10 Enter hipDeviceSynchronize ; 12 Enter hsa_signal_wait_scacquire ; 28 Leave hsa_signal_wait_scacquire
  30 Leave hipDeviceSynchronize
  40 Enter MPI_Barrier ; 50 Leave MPI_Barrier ; 60 Enter hipDeviceSynchronize ; 70 Leave hipDeviceSynchronize ; 100 Leave main
location 1 thread process=2 kind=1 rank=1
  0 Enter main ; 40 Enter MPI_Barrier ; 50 Leave MPI_Barrier ; 100 Leave main
`
	for _, c := range []struct {
		name, trace string
		waits       []int64 // nil: no block
	}{
		{"device", hosts + "location 2 stream process=1 kind=2\n  11 Enter k ; 29 Leave k\n", []int64{30, 0}},
		{"no device", hosts, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			tr, err := merge.Merge(t.Context(), tracetest.MustParse(t, c.trace), merge.Options{Clock: merge.ClockNone})
			if err != nil {
				t.Fatal(err)
			}
			defer tr.Store.Close()
			a, err := analysis.Analyze(t.Context(), tr, analysis.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if got := a.Efficiency.UsefulNs; !slices.Equal(got, []int64{90, 90}) {
				t.Fatalf("useful %d, want 90 of each", got)
			}
			o := a.Efficiency.Offload
			switch {
			case c.waits == nil && o != nil:
				t.Errorf("got %+v without a device", o)
			case c.waits == nil:
			case o == nil:
				t.Error("no block")
			case !slices.Equal(o.WaitNs, c.waits) || *o.Efficiency != 150.0/180 || *o.ParallelEfficiency != 150.0/200:
				t.Errorf("waits %d, efficiency %g, with it %g", o.WaitNs, *o.Efficiency, *o.ParallelEfficiency)
			}
		})
	}
}
