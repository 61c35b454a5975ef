package analysis_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"tracekit/document"
	"tracekit/document/field"
	"tracekit/merge"
	"tracekit/stats/analysis"
	"tracekit/trace"
	"tracekit/trace/tracetest"
)

// TestDeepCallPaths: a tracer that loses what ends regions makes paths as deep as the trace
// is long. The document grows with their number all the same, not with its square: a path
// whose regions were spelled out took 256 names.
func TestDeepCallPaths(t *testing.T) {
	const depth = 5000
	var text strings.Builder
	text.WriteString("location 0 rank=0\n")
	for i := range depth {
		fmt.Fprintf(&text, "  %d Enter step%d\n", i, i%7)
	}
	_, a := analyzed(t, tracetest.MustParse(t, text.String()), merge.ClockNone, analysis.Options{})
	if len(a.CallPaths) != depth {
		t.Fatalf("%d call paths, want %d", len(a.CallPaths), depth)
	}
	document, err := json.Marshal(a.CallPaths)
	if err != nil {
		t.Fatal(err)
	}
	if most := depth * 150; len(document) > most {
		t.Errorf("%d call paths take %d bytes, want at most %d", depth, len(document), most)
	}
}

// treed checks that call paths are a tree and that other rows refer to it.
func treed(t *testing.T, tr *trace.Trace, a *analysis.Result) {
	t.Helper()
	rows := make(map[field.Path]document.CallPathRow)
	within := make(map[field.Path]int64) // inclusive times of what a path calls
	for _, p := range a.CallPaths {
		rows[p.ID] = p
		if p.Parent != trace.None {
			within[p.Parent] += p.InclusiveNs
		}
	}
	for _, p := range a.CallPaths {
		if _, ok := rows[p.Parent]; p.Parent != trace.None && (!ok || p.Parent >= p.ID) {
			t.Errorf("call path %d is called by %d, which is not before it", p.ID, p.Parent)
		}
		if got := p.ExclusiveNs + within[p.ID]; abs(got-p.InclusiveNs) > slack(tr, len(a.CallPaths)) {
			t.Errorf("call path %d: exclusive time and what it calls take %d, inclusive time is %d", p.ID, got, p.InclusiveNs)
		}
	}
	for _, s := range a.CallSites {
		var calls uint64
		for _, id := range s.CallPaths {
			calls += rows[id].Count
			if rows[id].Region != s.Operation {
				t.Errorf("%s refers to call path %d, which ends in %q", s.Operation, id, rows[id].Region)
			}
		}
		if calls != s.Calls {
			t.Errorf("%s in %s: %d calls, its call paths have %d", s.Operation, s.Region, s.Calls, calls)
		}
	}
	for _, w := range a.WaitStates.All {
		for _, top := range w.Top {
			if rows[top.CallPath].Region != top.Operation {
				t.Errorf("a wait in %s refers to call path %d, which ends in %q", top.Operation, top.CallPath, rows[top.CallPath].Region)
			}
		}
	}
}
