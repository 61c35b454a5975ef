package diagnosis_test

import (
	"slices"
	"strings"
	"testing"

	"tracekit/document/cause"
	"tracekit/merge"
	"tracekit/stats/analysis"
	"tracekit/stats/diagnosis"
	"tracekit/stats/statstest"
	"tracekit/trace/tracetest"
)

// TestOfThreads states what is wrong with teams of two threads: the master works alone for 100 of
// 200, and in the parallel region from 50 to 150 it waits for 40 at the barrier. Roles tell, or the names that EZTrace gives.
func TestOfThreads(t *testing.T) {
	const text = `
process 0 rank0
location 0 master process=0 kind=1
  0 Enter main ; 50 Enter "!$omp parallel" ; 110 Enter "!$omp barrier" ; 150 Leave "!$omp barrier" ; 150 Leave "!$omp parallel"
  200 Leave main
location 1 worker process=0 kind=1
  50 Enter "!$omp parallel" ; 150 Enter "!$omp barrier" ; 150 Leave "!$omp barrier" ; 150 Leave "!$omp parallel"
region 0 "!$omp parallel" role=5 paradigm=3
region 1 "!$omp barrier" role=15 paradigm=3
`
	t.Run("roles", func(t *testing.T) { ofThreads(t, text) })
	t.Run("EZTrace", func(t *testing.T) {
		ofThreads(t, strings.NewReplacer("!$omp parallel", "OpenMP Parallel", "!$omp barrier", "OpenMP barrier", "role=5 paradigm=3",
			"role=1 paradigm=1", "role=15 paradigm=3", "role=1 paradigm=1").Replace(text))
	})
}

func ofThreads(t *testing.T, text string) {
	t.Helper()
	src := tracetest.MustParse(t, text)
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

// TestIdleThreads: where no parallel region says what threads should work on, processes that never wait may still have threads that do
// not work; that is told, without a saving.
func TestIdleThreads(t *testing.T) {
	causes, _ := hybridCauses(t, `
region 0 pthread_join paradigm=7
group 0 MPI kind=4 paradigm=4 members=0,2
group 1 world kind=5 paradigm=4 members=0,1
comm 0 MPI_COMM_WORLD group=1
process 0 rank0
process 1 rank1
location 0 master process=0 kind=1
  0 Enter main ; 900 Enter pthread_join ; 910 Leave pthread_join ; 990 Enter MPI_Barrier ; 990 MpiCollectiveBegin
  1000 MpiCollectiveEnd Barrier root=none ; 1000 Leave MPI_Barrier ; 1000 Leave main
location 1 worker process=0 kind=1
  100 Enter work ; 150 Leave work
location 2 master process=1 kind=1
  0 Enter main ; 900 Enter pthread_join ; 910 Leave pthread_join ; 990 Enter MPI_Barrier ; 990 MpiCollectiveBegin
  1000 MpiCollectiveEnd Barrier root=none ; 1000 Leave MPI_Barrier ; 1000 Leave main
location 3 worker process=1 kind=1
  100 Enter work ; 150 Leave work
`)
	if len(causes) != 1 || causes[0].Headline != "Threads have no work" || causes[0].GainNs != nil ||
		!strings.HasPrefix(causes[0].Text, "4 threads work for 51.5 % of their time.") {
		t.Errorf("causes are %+v", causes)
	}
}

// TestLocks: what threads wait for a critical section is a cause, and its block is work, though EZTrace has both in one region. Of 80 that
// two threads are in a parallel region the first has the lock from 10 to 50, and ends at 60; the second waits for it until 50, so that it
// ends 20 later. What the master waits for the second at the end is no joining.
func TestLocks(t *testing.T) {
	src := tracetest.MustParse(t, statstest.Locks)
	_, a := statstest.Analyzed(t, src, merge.Options{}, analysis.Options{})
	causes := diagnosis.OfThreads(a)
	joining := func(c cause.Cause) bool { return c.Evidence["fork_join_ns"] > 0 }
	if len(causes) == 0 || causes[0].Evidence["lock_wait_ns"] != 30 || *causes[0].GainNs != 20 || slices.ContainsFunc(causes, joining) {
		t.Fatalf("causes are %+v", causes)
	}
	if causes[0].Advise(false); !strings.HasPrefix(causes[0].Try, "shorten critical sections") {
		t.Error(causes[0].Try)
	}
}
