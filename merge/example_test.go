package merge_test

import (
	"context"
	"fmt"

	"tracekit/merge"
	"tracekit/trace/tracetest"
)

func ExampleMerge() {
	src, err := tracetest.Parse(`
location 0 rank=0
  40 Enter MPI_Send ; 41 MpiSend to=1 tag=7 bytes=8 ; 45 Leave MPI_Send
location 1 rank=1
  10 Enter MPI_Recv ; 46 MpiRecv from=0 tag=7 bytes=8 ; 47 Leave MPI_Recv
`)
	if err != nil {
		panic(err)
	}
	t, err := merge.Merge(context.Background(), src, merge.Options{})
	if err != nil {
		panic(err)
	}
	defer t.Store.Close()
	r := t.Recvs[1].At(0)
	s := t.Sends[r.SendLoc].At(int(r.Send))
	waited := t.Calls[r.SendLoc].At(int(s.Call)).Enter - t.Calls[1].At(int(r.Call)).Enter
	fmt.Printf("rank 1 received %d bytes from rank %d and waited %d ticks for them\n", r.Bytes, r.From(t.Rank), waited)
	// Output: rank 1 received 8 bytes from rank 0 and waited 30 ticks for them
}
