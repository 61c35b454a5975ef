package merge_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tracekit/merge"
	"tracekit/samples"
	"tracekit/trace"
	"tracekit/trace/tracetest"
)

// TestCorrected: the clock of rank 1 is 1000 ticks behind, as measured, so all of its times
// are moved, the argument of its flush too, which says when it ends. The trace counted from
// 500 on; rank 0 begins at 40, so it counts from there, 460 ns earlier.
func TestCorrected(t *testing.T) {
	src := tracetest.MustParse(t, `
clock resolution=1000000000 offset=500 length=1 realtime=2000
member 0 cycles value=4
metric 0 members=0
location 0 rank=0 offsets=0:0:0,5000:0:0
  40 Enter MPI_Send ; 1050 MpiSend to=1 bytes=8 ; 1060 Leave MPI_Send
location 1 rank=1 offsets=-1000:1000:0,4000:1000:0
  50 Enter MPI_Recv ; 100 MpiRecv from=0 bytes=8 ; 110 Leave MPI_Recv
  120 BufferFlush 150 ; 160 Metric 0 uint64:7
  180 Enter MPI_Barrier ; 181 MpiCollectiveBegin ; 219 MpiCollectiveEnd Barrier ; 220 Leave MPI_Barrier
`)
	want := tracetest.MustParse(t, `
property TRACEKIT::CLOCK_CORRECTED value=true
clock resolution=1000000000 offset=40 length=1180 realtime=1540
member 0 cycles value=4
metric 0 members=0
location 0 rank=0
  40 Enter MPI_Send ; 1050 MpiSend to=1 bytes=8 ; 1060 Leave MPI_Send
location 1 rank=1
  1050 Enter MPI_Recv ; 1100 MpiRecv from=0 bytes=8 ; 1110 Leave MPI_Recv
  1120 BufferFlush 1150 ; 1160 Metric 0 uint64:7
  1180 Enter MPI_Barrier ; 1181 MpiCollectiveBegin ; 1219 MpiCollectiveEnd Barrier ; 1220 Leave MPI_Barrier
`)
	before := tracetest.MustFormat(t, src)
	got := merge.Corrected(merged(t, src, merge.Options{}))
	if diff := cmp.Diff(tracetest.MustFormat(t, want), tracetest.MustFormat(t, got)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(before, tracetest.MustFormat(t, src)); diff != "" {
		t.Errorf("the source has changed:\n%s", diff)
	}
}

// TestCorrectedTimesAreThoseOfTheTrace: whoever reads the corrected source as it is gets the
// rows that the trace has.
func TestCorrectedTimesAreThoseOfTheTrace(t *testing.T) {
	skewed(t, func(name string, m *samples.Memory) {
		tr := merged(t, m, merge.Options{Clock: merge.ClockCLC})
		again := merged(t, merge.Corrected(tr), merge.Options{Clock: merge.ClockNone})
		rows := func(t *trace.Trace) string {
			text := list(t)
			for _, end := range []string{"\nclock ", "\nloss ", "\nerror ", "\ninfo "} {
				text, _, _ = strings.Cut(text, end)
			}
			return strings.TrimSpace(text)
		}
		if diff := cmp.Diff(rows(tr), rows(again)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	})
}
