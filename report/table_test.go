package report

import (
	"slices"
	"strings"
	"testing"

	"tracekit/document"
	"tracekit/trace"
)

// TestModelledIsSaidOnce: what columns and tables say that a model made is what the document of a rebuilt trace lists.
func TestModelledIsSaidOnce(t *testing.T) {
	listed := document.RebuiltOf(trace.Info{Properties: map[string]string{trace.PropertyReconstructed: "true"}})
	if listed == nil {
		t.Fatal("the trace is not rebuilt")
	}
	// Of accelerators and files the document lists nothing: formulae are of programs that call MPI.
	for _, table := range []*Table{waitStates, delays, collectives, lines} {
		path := strings.TrimSuffix(strings.TrimSuffix(table.Path, "[]"), "{}")
		if table.Modelled != slices.Contains(listed.Modelled, path) {
			t.Errorf("%s: modelled %v, the document says otherwise", path, table.Modelled)
		}
		for _, c := range table.Columns {
			if at := table.Path + "." + c.Key; !table.Modelled && c.Modelled != slices.Contains(listed.Modelled, at) {
				t.Errorf("%s: modelled %v, the document says otherwise", at, c.Modelled)
			}
		}
	}
}
