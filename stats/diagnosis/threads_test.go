package diagnosis_test

import (
	"slices"
	"testing"

	"tracekit/document/cause"
	"tracekit/merge"
	"tracekit/stats/analysis"
	"tracekit/stats/diagnosis"
	"tracekit/stats/statstest"
	"tracekit/trace/tracetest"
)

// TestOfThreads states what is wrong with teams of two threads: the master works alone for 100 of
// 200, and in the parallel region from 50 to 150 it waits for 40 at the barrier.
func TestOfThreads(t *testing.T) {
	src := tracetest.MustParse(t, `
process 0 rank0
location 0 master process=0 kind=1
  0 Enter main ; 50 Enter "!$omp parallel" ; 110 Enter "!$omp barrier" ; 150 Leave "!$omp barrier" ; 150 Leave "!$omp parallel"
  200 Leave main
location 1 worker process=0 kind=1
  50 Enter "!$omp parallel" ; 150 Enter "!$omp barrier" ; 150 Leave "!$omp barrier" ; 150 Leave "!$omp parallel"
region 0 "!$omp parallel" role=5 paradigm=3
region 1 "!$omp barrier" role=15 paradigm=3
`)
	_, a := statstest.Analyzed(t, src, merge.Options{}, analysis.Options{})
	type gain struct {
		kind  cause.Kind
		gain  int64
		waits int64
	}
	var got []gain
	for _, c := range diagnosis.OfThreads(a) {
		got = append(got, gain{c.Kind, *c.GainNs, c.WaitsCausedNs})
	}
	if want := []gain{{cause.ThreadIdle, 50, 0}, {cause.Imbalance, 20, 40}}; !slices.Equal(got, want) {
		t.Errorf("causes are %v, want %v", got, want)
	}
}
