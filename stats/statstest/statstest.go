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
