package main

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"tracekit/formulae"
	"tracekit/formulae/sequence"
)

// TestByMemory states that more memory never learns less, and that what is learned with the
// usual memory is what compressing with it reports.
func TestByMemory(t *testing.T) {
	dir := t.TempDir()
	stdout := succeed(t, dir, "compress", "--json", "--by-memory", "-o", "x.tkf", sampleArchive(t, "zoo-4"))
	var doc struct {
		Learned  map[string]any
		ByMemory []map[string]any `json:"learned_by_memory"`
	}
	decode(t, stdout, &doc)
	var terms []int
	before := map[string]float64{}
	for _, row := range doc.ByMemory {
		n := int(row["terms"].(float64))
		terms = append(terms, n)
		delete(row, "terms")
		if diff := cmp.Diff(doc.Learned, row); n == sequence.DefaultTerms && diff != "" {
			t.Errorf("with %d terms (-reported +by memory):\n%s", n, diff)
		}
		for name, category := range row {
			static, ok := category.(map[string]any)["static"].(float64)
			if !ok { // the messages, which have a share
				static = category.(map[string]any)["share"].(float64)
			}
			if static < before[name] {
				t.Errorf("%s: %d terms learn %v, fewer %v", name, n, static, before[name])
			}
			before[name] = static
		}
	}
	if diff := cmp.Diff(formulae.MemoryTerms(), terms); diff != "" {
		t.Errorf("terms (-want +got):\n%s", diff)
	}
}
