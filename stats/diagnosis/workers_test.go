package diagnosis_test

import (
	"fmt"
	"strings"
	"testing"

	"tracekit/document/cause"
	"tracekit/merge"
	"tracekit/stats/analysis"
	"tracekit/stats/diagnosis"
	"tracekit/stats/statstest"
	"tracekit/trace/tracetest"
)

// TestWorkers states that where worker threads communicate for their ranks, what the masters do is what makes others wait. In each of ten
// iterations of 100 the master of rank 1 prepares for 60, that of rank 0 for 20; then their workers meet for 10, so that rank 0 waits 40.
//
// Efficiencies are not known then, unless teams of threads are recorded, with which masters are seen to wait.
func TestWorkers(t *testing.T) {
	t.Run("alone", func(t *testing.T) { workers(t, false, "prepare", "in prepare") })
	t.Run("between operators", func(t *testing.T) { workers(t, false, "ProfilerStep#1", "in none of the recorded operators") })
	t.Run("teams", func(t *testing.T) { workers(t, true, "prepare", "") })
}

func workers(t *testing.T, teams bool, region, where string) {
	var b strings.Builder
	if teams {
		b.WriteString("region 0 \"!$omp parallel\" role=5 paradigm=3\n")
	}
	b.WriteString("process 0 rank0\nprocess 1 rank1\ngroup 0 \"MPI ranks\" kind=4 paradigm=4 members=0,2\ngroup 1 world kind=5 paradigm=4 " +
		"members=0,1\ncomm 0 MPI_COMM_WORLD group=1\n")
	for r, prepare := range []int{20, 60} {
		var master, worker strings.Builder
		for i := range 10 {
			at := 100 * i
			fmt.Fprintf(&master, "  %d Enter step ; %d Enter %q ; %d Leave %q", at, at, region, at+prepare, region)
			if teams {
				fmt.Fprintf(&master, " ; %d ThreadFork 3 2 ; %d Enter \"!$omp parallel\" ; %d Leave \"!$omp parallel\" ; %d ThreadJoin 3", at+prepare,
					at+prepare, at+prepare, at+prepare)
			}
			fmt.Fprintf(&master, " ; %d Leave step\n", at+95)
			fmt.Fprintf(&worker, "  %d Enter MPI_Allreduce ; %d MpiCollectiveBegin ; %d MpiCollectiveEnd Allreduce root=none sent=8 received=8 "+
				"; %d Leave MPI_Allreduce\n",
				at+prepare, at+prepare, at+70, at+70)
		}
		fmt.Fprintf(&b, "location %d master process=%d kind=1\n%slocation %d worker process=%d kind=1\n%s", 2*r, r, &master, 2*r+1, r, &worker)
	}
	tr, a := statstest.Analyzed(t, tracetest.MustParse(t, b.String()), merge.Options{Clock: merge.ClockNone}, analysis.Options{})
	if d := a.Delays[0]; string(d.Region) != region || d.TotalNs != 400 || d.MostRank != 1 || d.MostRankNs != 400 {
		t.Errorf("most waits are caused by %s, %d ns, on rank %d; want %s, 400 ns, rank 1", d.Region, d.TotalNs, d.MostRank, region)
	}
	for _, row := range a.CriticalPath.Regions {
		if row.Region == "(outside any region)" && row.TimeNs > 50 { // from the last step to the end of each iteration
			t.Errorf("%d ns of the critical path are outside of any region", row.TimeNs)
		}
	}
	if e := a.Efficiency; e.WorkerThreads.WaitNs != 400 || (e.ParallelEfficiency != nil) != teams || (e.LoadBalance != nil) != teams ||
		e.Hidden() == teams {
		t.Errorf("workers wait %d ns, and the efficiency is %v; want 400 ns, and that it is known with teams alone", e.WorkerThreads.WaitNs,
			e.ParallelEfficiency)
	}
	causes, err := diagnosis.Find(t.Context(), tr, a, 1)
	if err != nil {
		t.Fatal(err)
	}
	found := false
	for _, c := range causes {
		found = found || c.Kind == cause.Imbalance && string(c.Region) == region && strings.Contains(c.Text, where) &&
			len(c.Ranks) == 1 && c.Ranks[0] == 1 && c.WaitsCausedNs == 400
	}
	if !found {
		t.Errorf("no cause says that rank 1 makes others wait 400 ns %s: %+v", where, causes)
	}
}

// TestWorkersInPart: where the file of the other rank is missing, for whom a worker thread waits is unknown, as all ratios of masters are.
func TestWorkersInPart(t *testing.T) {
	var master, worker strings.Builder
	for i := range 10 {
		at := 100 * i
		fmt.Fprintf(&master, "  %d Enter step ; %d Leave step\n", at, at+95)
		fmt.Fprintf(&worker, "  %d Enter MPI_Allreduce ; %d MpiCollectiveBegin ; %d MpiCollectiveEnd Allreduce root=none sent=8 received=8 "+
			"; %d Leave MPI_Allreduce\n", at+20, at+20, at+70, at+70)
	}
	text := "process 0 rank0\ngroup 0 \"MPI ranks\" kind=4 paradigm=4 members=0,2\ngroup 1 world kind=5 paradigm=4 members=0,1\n" +
		"comm 0 MPI_COMM_WORLD group=1\nlocation 0 master process=0 kind=1\n" + master.String() + "location 1 worker process=0 kind=1\n" +
		worker.String()
	_, a := statstest.Analyzed(t, tracetest.MustParse(t, text), merge.Options{Clock: merge.ClockNone}, analysis.Options{})
	if e := a.Efficiency; e.WorkerThreads.IncompleteCallsNs != 500 || !e.Hidden() || e.LoadBalance != nil {
		t.Errorf("workers are in calls without partners for %d ns, and the efficiency is %v; want 500 ns, and that it is unknown",
			e.WorkerThreads.IncompleteCallsNs, e.ParallelEfficiency)
	}
}

// twoRanks begins a trace of two ranks whose masters are locations 0 and 2, with location 0.
const twoRanks = `
process 0 rank0
process 1 rank1
group 0 "MPI ranks" kind=4 paradigm=4 members=0,2
group 1 world kind=5 paradigm=4 members=0,1
comm 0 MPI_COMM_WORLD group=1
location 0 master process=0 kind=1
`

// TestLateRecordsOfWorkers: worker threads communicate, and rank 1 has no records in the first 500 of 1000, for which rank 0 waits 480. The
// critical path does not lead there, since no master is seen to wait; the doubt says it.
func TestLateRecordsOfWorkers(t *testing.T) {
	for late, want := range map[int]int64{0: 0, 500: 490} { // rank 0 begins at 10
		text := fmt.Sprintf(twoRanks+`  10 Enter step ; 1000 Leave step
location 1 worker process=0 kind=1
  20 Enter MPI_Allreduce ; 20 MpiCollectiveBegin ; 530 MpiCollectiveEnd Allreduce root=none sent=8 received=8 ; 530 Leave MPI_Allreduce
location 2 master process=1 kind=1
  %d Enter step ; 1000 Leave step
location 3 worker process=1 kind=1
  520 Enter MPI_Allreduce ; 520 MpiCollectiveBegin ; 530 MpiCollectiveEnd Allreduce root=none sent=8 received=8 ; 530 Leave MPI_Allreduce
`, late)
		tr, a := statstest.Analyzed(t, tracetest.MustParse(t, text), merge.Options{Clock: merge.ClockNone}, analysis.Options{})
		diagnosis.DoubtRecords(tr, a)
		switch {
		case want == 0 && len(a.Doubts) > 0:
			t.Errorf("records that begin together are doubted: %+v", a.Doubts)
		case want > 0 && (len(a.Doubts) != 1 || *a.Doubts[0].Rank != 1 || a.Doubts[0].LateNs != want):
			t.Errorf("doubts are %+v, want that records of rank 1 start %d late", a.Doubts, want)
		}
	}
}

// TestLateThemselves: rank 1 comes 400 late to a collective of worker threads. Until then it receives, on a thread of its own, from nobody
// knows whom. The cause says that it may wait.
func TestLateThemselves(t *testing.T) {
	for receive, want := range map[string]bool{"MPI_Recv": true, "prepare": false} {
		text := strings.ReplaceAll(twoRanks+`  0 Enter step ; 1000 Leave step
location 1 worker process=0 kind=1
  100 Enter MPI_Allreduce ; 100 MpiCollectiveBegin ; 510 MpiCollectiveEnd Allreduce root=none sent=8 received=8 ; 510 Leave MPI_Allreduce
location 2 master process=1 kind=1
  0 Enter "step 2" ; 50 Leave "step 2" ; 500 Enter step ; 1000 Leave step
location 3 worker process=1 kind=1
  500 Enter MPI_Allreduce ; 500 MpiCollectiveBegin ; 510 MpiCollectiveEnd Allreduce root=none sent=8 received=8 ; 510 Leave MPI_Allreduce
location 4 receiver process=1 kind=1
  50 Enter RECEIVE ; 490 Leave RECEIVE
`, "RECEIVE", receive)
		tr, a := statstest.Analyzed(t, tracetest.MustParse(t, text), merge.Options{Clock: merge.ClockNone}, analysis.Options{})
		causes, err := diagnosis.Find(t.Context(), tr, a, 1)
		if err != nil {
			t.Fatal(err)
		}
		if len(causes) == 0 || !strings.Contains(causes[0].Text, "for rank 1, mostly while it is in none of the recorded functions.") ||
			strings.Contains(causes[0].Text, "It may wait in MPI_Recv before that: who sends is not recorded.") != want {
			t.Errorf("%s: causes are %+v", receive, causes)
		}
	}
}
