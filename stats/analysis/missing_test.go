package analysis_test

import (
	"strings"
	"testing"

	"tracekit/merge"
	"tracekit/stats/analysis"
	"tracekit/trace"
	"tracekit/trace/tracetest"
)

// TestMissingRanks has two of four ranks, and what the profiler notes of itself before and after
// them. All means are over the two, and the run is theirs; the absent ones are named.
func TestMissingRanks(t *testing.T) {
	const text = `
process 0 "rank 1" 
process 1 "rank 3"
process 2 Spans kind=0
group 0 MPI kind=4 members=none,0,none,1
location 0 rank1 process=0
  10 Enter main ; 20 Enter MPI_Barrier ; 30 Leave MPI_Barrier ; 50 Leave main
location 1 rank3 process=1
  10 Enter main ; 30 Leave main ; 30 Enter MPI_Barrier ; 50 Leave MPI_Barrier
location 2 "PyTorch Profiler" process=2 kind=0
  0 Enter "PyTorch Profiler (0)" ; 90 Leave "PyTorch Profiler (0)"
`
	src := tracetest.MustParse(t, text)
	_, a := analyzed(t, src, merge.ClockAuto, analysis.Options{})
	if a.Trace.Processes != 4 || a.Trace.ProcessesMissing != 2 || a.Trace.DurationNs != 40 {
		t.Errorf("the trace is %+v", a.Trace)
	}
	e := a.Efficiency
	if *e.ParallelEfficiency != 0.625 || *e.LoadBalance != 5.0/6 || e.UsefulMeanNs != 25 || e.UsefulMin.Rank != 3 || len(e.UsefulNs) != 2 {
		t.Errorf("efficiency is %v, load balance %v: %+v", *e.ParallelEfficiency, *e.LoadBalance, e.Ratios)
	}
	for _, r := range a.Profile {
		if r.Region == "main" && (r.MeanNs != 25 || r.MinNs != 20 || r.MinRank != 3) || strings.HasPrefix(r.Region, "PyTorch") {
			t.Errorf("row %+v", r)
		}
	}
	found := false
	for _, f := range a.Findings {
		found = found || f.Code == string(trace.CodeMissingRank) && f.Count == 2 && strings.HasSuffix(f.Text, "ranks 0, 2 of 4")
	}
	if !found {
		t.Errorf("findings are %+v", a.Findings)
	}
}

// TestWorkerBeforeMaster: a thread whose records begin before those of its master begins the ideal run when it
// did the recorded one, at 0, and sends at 205 what the other rank waits for from 200 on.
func TestWorkerBeforeMaster(t *testing.T) {
	src := tracetest.MustParse(t, `
location 0 rank=0
  100 Enter main ; 200 Enter MPI_Recv ; 210 MpiRecv from=1 bytes=8 ; 211 Leave MPI_Recv ; 300 Leave main
location 1 rank=1
  90 Enter main ; 310 Leave main
location 2 rank=1
  0 Enter work ; 205 Enter MPI_Send ; 206 MpiSend to=0 bytes=8 ; 207 Leave MPI_Send ; 300 Leave work
`)
	_, a := analyzed(t, src, merge.ClockNone, analysis.Options{})
	if ideal := a.Efficiency.ZeroCostRuntimeNs; ideal == nil || *ideal != 310 {
		t.Errorf("the ideal run takes %v, want 310", ideal)
	}
}
