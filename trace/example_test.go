package trace_test

import (
	"fmt"
	"os"
	"strings"

	"tracekit/trace"
)

func ExampleParseText() {
	m, err := trace.ParseText(strings.NewReader(`
location 0 rank=0
  40 Enter MPI_Send ; 41 MpiSend to=1 tag=7 bytes=8 ; 45 Leave MPI_Send
location 1 rank=1
  10 Enter MPI_Recv ; 46 MpiRecv from=0 tag=7 bytes=8 ; 47 Leave MPI_Recv
`))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(len(m.Definitions.World()), "ranks,", m.Batches[1][0].Len(), "events on location 1")
	// Output: 2 ranks, 3 events on location 1
}

func ExampleWriteText() {
	m, _ := trace.ParseText(strings.NewReader(`
region work file=a.c line=5
location 0 rank=0
  1 Enter work
  2 Enter MPI_Barrier ; 3 MpiCollectiveBegin ; 4 MpiCollectiveEnd Barrier ; 5 Leave MPI_Barrier
  6 Leave work
`))
	_ = trace.WriteText(os.Stdout, m)
	// Output:
	// region 0 work file=a.c line=5
	// region 1 MPI_Barrier
	// location 0 "Master thread" rank=0
	//   1 Enter work
	//     2 Enter MPI_Barrier ; 3 MpiCollectiveBegin ; 4 MpiCollectiveEnd Barrier ; 5 Leave MPI_Barrier
	//   6 Leave work
}

func ExampleBatch_Record() {
	var b trace.Batch
	b.Reset(0, 0)
	b.AddFlow(10, trace.KindEnter, 3)
	b.AddFlow(25, trace.KindLeave, 3)
	r := b.Record(trace.TableFlow)
	defer r.Release()
	fmt.Println(r.NumRows(), r.Schema().Field(1).Name, r.Column(1))
	// Output: 2 time [10 25]
}
