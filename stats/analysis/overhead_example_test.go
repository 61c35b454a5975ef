package analysis_test

import (
	"context"
	"fmt"

	"tracekit/merge"
	"tracekit/stats/analysis"
	"tracekit/stats/fit"
	"tracekit/stats/overhead"
	"tracekit/stats/scope"
	"tracekit/trace"
	"tracekit/trace/tracetest"
)

// What a benchmark measured becomes the profile with which another trace is analyzed.
func ExampleMeasure() {
	merged := func(text string) *trace.Trace {
		src, err := tracetest.Parse(text)
		if err != nil {
			panic(err)
		}
		t, err := merge.Merge(context.Background(), src, merge.Options{})
		if err != nil {
			panic(err)
		}
		return t
	}
	benchmark := merged(`
location 0 rank0 rank=0
  0 Enter MPI_Send ; 1 MpiSend to=1 bytes=8 ; 7 Leave MPI_Send
location 1 rank1 rank=1
  20 Enter MPI_Recv ; 21 MpiRecv from=0 bytes=8 ; 25 Leave MPI_Recv
`)
	defer benchmark.Store.Close()
	measured, err := overhead.Measure(context.Background(), benchmark, scope.Selection{}, 0, overhead.MeasureOptions{})
	if err != nil {
		panic(err)
	}
	profile := fit.ProfileOf(fit.Calibrate(measured.Samples, fit.Options{}), fit.Options{})

	run := merged(`
location 0 rank0 rank=0
  0 Enter MPI_Send @solver.c:12 ; 1 MpiSend to=1 bytes=8 ; 97 Leave MPI_Send
location 1 rank1 rank=1
  200 Enter MPI_Recv @solver.c:20 ; 201 MpiRecv from=0 bytes=8 ; 205 Leave MPI_Recv
`)
	defer run.Store.Close()
	a, err := analysis.Analyze(context.Background(), run, analysis.Options{Overhead: &overhead.Options{Profile: &profile}})
	if err != nil {
		panic(err)
	}
	for _, l := range a.Overhead.Lines {
		fmt.Printf("%s at %s:%d takes %d ns, %d of them overhead\n", l.Operation, l.File, l.Line, l.TotalNs, l.OverheadNs)
	}
	// Output:
	// MPI_Send at solver.c:12 takes 97 ns, 90 of them overhead
	// MPI_Recv at solver.c:20 takes 5 ns, 0 of them overhead
}
