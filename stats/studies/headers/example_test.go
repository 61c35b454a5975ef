package headers_test

import (
	"context"
	"fmt"

	"tracekit/merge"
	"tracekit/stats/analysis"
	"tracekit/stats/studies/headers"
	"tracekit/trace/tracetest"
)

// A rank waits for a slow one. It says that it waited; the header of the message says what for.
func ExampleMake() {
	src, err := tracetest.Parse(`
location 0 rank=0
  0 Enter slow ; 90 Enter MPI_Send ; 90 MpiSend to=1 bytes=8 ; 91 Leave MPI_Send ; 91 Leave slow
location 1 rank=1
  0 Enter fast ; 10 Enter MPI_Recv ; 95 MpiRecv from=0 bytes=8 ; 95 Leave MPI_Recv ; 100 Leave fast
`)
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx := context.Background()
	t, err := merge.Merge(ctx, src, merge.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer t.Store.Close()
	a, err := analysis.Analyze(ctx, t, analysis.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	p, err := headers.Make(ctx, t, a, headers.Options{Layout: headers.Layout92})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, c := range p.Ranks[1].Counters {
		fmt.Println(c.Metric, c.TimeNs)
	}
	// Output:
	// compute: slow 90
	// wire 5
	// compute: fast 5
}
