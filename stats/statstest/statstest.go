// Package statstest makes what tests of analyses begin with: traces that are generated,
// reconciled, and analyzed. What fails on the way ends the test, what is open is closed with it.
package statstest

import (
	"testing"

	"tracekit/merge"
	"tracekit/samples"
	"tracekit/stats/analysis"
	"tracekit/trace"
)

// Locks is a trace, in the text form of tracetest: two threads of a parallel region wait for each other in a critical section. Of 80 the
// first has the lock from 10 to 50, and ends at 60. The second waits for it until 50, so that it ends 20 later.
const Locks = `
region 0 "OpenMP Parallel" role=1 paradigm=1
region 1 "OpenMP critical" role=1 paradigm=1
process 0 rank0
location 0 master process=0 kind=1
  0 Enter main ; 0 ThreadFork 1 2 ; 0 Enter "OpenMP Parallel" ; 10 Enter "OpenMP critical" ; 50 Leave "OpenMP critical"
  60 Leave "OpenMP Parallel" ; 80 ThreadJoin 1 ; 80 Leave main
location 1 worker process=0 kind=1
  0 Enter "OpenMP Parallel" ; 20 Enter "OpenMP critical" ; 70 Leave "OpenMP critical" ; 80 Leave "OpenMP Parallel"
`

// Generated returns the trace of a program, in memory.
func Generated(t testing.TB, o samples.Options) *samples.Memory {
	t.Helper()
	m, _, err := samples.InMemory(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// Merged reconciles a trace.
func Merged(t testing.TB, src trace.Source, o merge.Options) *trace.Trace {
	t.Helper()
	tr, err := merge.Merge(t.Context(), src, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { tr.Store.Close() })
	return tr
}

// Analyzed reconciles a trace and analyses it.
func Analyzed(t testing.TB, src trace.Source, m merge.Options, o analysis.Options) (*trace.Trace, *analysis.Result) {
	t.Helper()
	tr := Merged(t, src, m)
	return tr, Analysis(t, tr, o)
}

// Analysis analyses a reconciled trace.
func Analysis(t testing.TB, tr *trace.Trace, o analysis.Options) *analysis.Result {
	t.Helper()
	a, err := analysis.Analyze(t.Context(), tr, o)
	if err != nil {
		t.Fatal(err)
	}
	return a
}
