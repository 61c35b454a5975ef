package tkf_test

import (
	"testing"

	"tracekit/formulae/tkf"
	"tracekit/trace"
	"tracekit/trace/tracetest"
)

// TestNestedReceives states that the time for which a function that an MPI function calls waits for a message is no time of its own: a
// rebuilt run waits once for it, as recorders of collectives that send messages have it.
func TestNestedReceives(t *testing.T) {
	src := tracetest.MustParse(t, `
location 0 rank=0
  0 Enter main ; 10 Enter MPI_Reduce ; 20 Enter MPI_Recv ; 30 MpiRecv from=1 ; 31 Leave MPI_Recv
  40 Enter MPI_Recv ; 1000 MpiRecv from=2 ; 1001 Leave MPI_Recv ; 1010 Leave MPI_Reduce ; 1100 Leave main
location 1 rank=1
  0 Enter main ; 5 Enter MPI_Send ; 6 MpiSend to=0 ; 7 Leave MPI_Send ; 1100 Leave main
location 2 rank=2
  0 Enter main ; 900 Enter MPI_Send ; 910 MpiSend to=0 ; 920 Leave MPI_Send ; 1100 Leave main
`)
	name, _ := compress(t, src, tkf.Options{Mode: tkf.Statistics})
	for b := range tracetest.Batches(t, openTKF(t, name), 0) {
		for i, kind := range b.P2P.Kind {
			if want := []int64{20, 1000}[i]; kind == trace.KindMpiRecv && (b.P2P.Time[i] < want || b.P2P.Time[i] > want+10) {
				t.Errorf("receive %d is complete at %d, want %d", i, b.P2P.Time[i], want)
			}
		}
	}
}
