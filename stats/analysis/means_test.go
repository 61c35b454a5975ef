package analysis_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"tracekit/document"
	"tracekit/merge"
	"tracekit/stats/analysis"
	"tracekit/trace/tracetest"
)

// TestLatencyBelowZero: the messages take -80 (received at 20, its send begins at 100), 20
// and 51 ticks, so the mean is -9/3 = -3. Nothing is clamped.
func TestLatencyBelowZero(t *testing.T) {
	src := tracetest.MustParse(t, `
location 0 rank=0
  100 Enter MPI_Send ; 100 MpiSend to=1 tag=1 bytes=8 ; 101 Leave MPI_Send
  200 Enter MPI_Send ; 200 MpiSend to=1 tag=2 bytes=16 ; 201 Leave MPI_Send
  300 Enter MPI_Send ; 300 MpiSend to=1 tag=3 bytes=16 ; 301 Leave MPI_Send
location 1 rank=1
  10 Enter MPI_Recv ; 20 MpiRecv from=0 tag=1 bytes=8 ; 20 Leave MPI_Recv
  210 Enter MPI_Recv ; 220 MpiRecv from=0 tag=2 bytes=16 ; 220 Leave MPI_Recv
  310 Enter MPI_Recv ; 351 MpiRecv from=0 tag=3 bytes=16 ; 351 Leave MPI_Recv
`)
	tr, a := analyzed(t, src, merge.ClockNone, analysis.Options{})
	conserved(t, tr, a)
	want := &document.Latency{BelowZero: 1, Min: -80, Mean: -3, P50: 20, P99: 51, Max: 51}
	if diff := cmp.Diff(want, a.Messages.Latency); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	classes := []document.BytesClass{{From: -80, To: 0, Count: 1, Bytes: 8}, {From: 16, To: 32, Count: 1, Bytes: 16},
		{From: 32, To: 64, Count: 1, Bytes: 16}}
	if diff := cmp.Diff(classes, a.Messages.Latencies); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestMeans: two ranks of four visit io, for 10 and 31 ticks: in the mean of those 20.5, which
// is rounded to 21. Their calls of MPI_Wtime last 1 and 2 ticks, in the mean 1.5.
func TestMeans(t *testing.T) {
	src := tracetest.MustParse(t, `
region 0 io
location 0 rank=0
  0 Enter main ; 100 Leave main
location 1 rank=1
  0 Enter main ; 10 Enter io ; 20 Leave io ; 30 Enter MPI_Wtime ; 31 Leave MPI_Wtime ; 100 Leave main
location 2 rank=2
  0 Enter main ; 10 Enter io ; 41 Leave io ; 50 Enter MPI_Wtime ; 52 Leave MPI_Wtime ; 100 Leave main
location 3 rank=3
  0 Enter main ; 100 Leave main
`)
	_, a := analyzed(t, src, merge.ClockNone, analysis.Options{})
	for _, r := range a.Profile {
		if r.Region != "io" {
			continue
		}
		got := [6]int64{int64(r.Ranks), r.MinNs, int64(r.MinRank), r.MeanNs, r.MaxNs, int64(r.MaxRank)}
		if want := [6]int64{2, 10, 1, 21, 31, 2}; got != want {
			t.Errorf("ranks, least, on, mean, most, on: %v, want %v", got, want)
		}
	}
	if len(a.CallSites) != 1 || a.CallSites[0].MeanNs != 2 {
		t.Errorf("call sites are %+v", a.CallSites)
	}
	if u := a.Efficiency; u.UsefulMeanNs != (100+99+98+100+2)/4 {
		t.Errorf("useful time in the mean is %d", u.UsefulMeanNs)
	}
}
