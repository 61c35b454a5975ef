package analysis_test

import (
	"context"
	"fmt"

	"tracekit/document/waitstate"
	"tracekit/merge"
	"tracekit/stats/analysis"
	"tracekit/trace/tracetest"
)

// A receiver waits 30 ns for a message that is sent late.
func ExampleAnalyze() {
	const text = `
location 0 rank0 rank=0
  0 Enter main ; 40 Enter MPI_Send ; 41 MpiSend to=1 bytes=8 ; 44 Leave MPI_Send ; 50 Leave main
location 1 rank1 rank=1
  0 Enter main ; 10 Enter MPI_Recv ; 45 MpiRecv from=0 bytes=8 ; 46 Leave MPI_Recv ; 66 Leave main
`
	src, err := tracetest.Parse(text)
	if err != nil {
		fmt.Println(err)
		return
	}
	t, err := merge.Merge(context.Background(), src, merge.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer t.Store.Close()
	a, err := analysis.Analyze(context.Background(), t, analysis.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	wait := a.WaitStates[waitstate.LateSender].Top[0]
	fmt.Printf("rank %d waits %d ns in %s, called from %s\n", wait.Rank, wait.TimeNs, wait.Operation, wait.Region)
	fmt.Printf("parallel efficiency %.2f\n", *a.Efficiency.ParallelEfficiency)
	for _, r := range a.CriticalPath.Regions {
		fmt.Println("on the critical path:", r.Region, r.Operation, r.TimeNs, "ns")
	}
	// Output:
	// rank 1 waits 30 ns in MPI_Recv, called from main
	// parallel efficiency 0.58
	// on the critical path: main  60 ns
	// on the critical path: main MPI_Recv 6 ns
}
