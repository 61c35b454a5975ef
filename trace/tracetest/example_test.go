package tracetest_test

import (
	"fmt"

	"tracekit/trace/tracetest"
)

func ExampleParse() {
	m, err := tracetest.Parse(`
location 0 rank=0
  40 Enter MPI_Send ; 41 MpiSend to=1 tag=7 bytes=8 ; 45 Leave MPI_Send
location 1 rank=1
  10 Enter MPI_Recv ; 46 MpiRecv from=0 tag=7 bytes=8 ; 47 Leave MPI_Recv
`)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(len(m.Definitions.World()), "ranks,", m.Batches[1][0].Len(), "events on location 1")
	// Output: 2 ranks, 3 events on location 1
}

func ExampleFormat() {
	m, _ := tracetest.Parse(`
region work file=a.c line=5
location 0 rank=0
  1 Enter work
  2 Enter MPI_Barrier ; 3 MpiCollectiveBegin ; 4 MpiCollectiveEnd Barrier ; 5 Leave MPI_Barrier
  6 Leave work
`)
	text, _ := tracetest.Format(m)
	fmt.Print(text)
	// Output:
	// region 0 work file=a.c line=5
	// region 1 MPI_Barrier
	// location 0 "Master thread" rank=0
	//   1 Enter work
	//     2 Enter MPI_Barrier ; 3 MpiCollectiveBegin ; 4 MpiCollectiveEnd Barrier ; 5 Leave MPI_Barrier
	//   6 Leave work
}
