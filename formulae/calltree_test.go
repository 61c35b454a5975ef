package formulae

import (
	"fmt"
	"testing"

	"tracekit/formulae/sequence"
	"tracekit/trace"
)

// nestedRegions returns batches of n regions, each entered in the one before and none ever left.
func nestedRegions(n int) func(func(*trace.Batch) bool) {
	return func(yield func(*trace.Batch) bool) {
		var b trace.Batch
		for i := 0; i < n; i += 1024 {
			b.Reset(0, uint64(i))
			for k := i; k < min(i+1024, n); k++ {
				b.AddFlow(int64(k), trace.KindEnter, trace.RegionID(k%3))
			}
			if !yield(&b) {
				return
			}
		}
	}
}

// TestCallTreeIsBounded: regions that are never left make a call path each. What is one too
// many has no place in the tree, is counted, and does not disturb what comes after it.
func TestCallTreeIsBounded(t *testing.T) {
	const n = 3 * mostNodes
	tree := NewCallTree(sequence.Form{})
	for b := range nestedRegions(n) {
		tree.Add(b)
	}
	kept := mostNodes - 1 // the first node is the location
	if got := len(tree.nodes); got != mostNodes {
		t.Errorf("%d nodes, want %d", got, mostNodes)
	}
	if got := tree.Dropped(); got != uint64(n-kept) {
		t.Errorf("%d events dropped, want %d", got, n-kept)
	}
	var b trace.Batch
	b.Reset(0, n)
	b.AddP2P(trace.P2PRow{Time: n, Kind: trace.KindMpiSend})
	b.AddFlow(n+1, trace.KindLeave, trace.RegionID((n-1)%3)) // the innermost one
	b.AddFlow(n+2, trace.KindLeave, trace.RegionID(0))       // one further out, with what is in it
	for range n {
		b.AddFlow(n+3, trace.KindLeave, trace.None)
	}
	b.AddFlow(n+4, trace.KindEnter, 0)
	tree.Add(&b)
	tree.Finish()
	if got := tree.nodes[0].items[1].count(); got != 2 {
		t.Errorf("the outermost region is called %d times, want 2", got)
	}
	visits := uint64(0)
	for _, node := range tree.nodes[1:] {
		visits += node.visits
	}
	if want := uint64(kept + 1); visits != want {
		t.Errorf("%d visits, want %d", visits, want)
	}
}

// BenchmarkOpenRegions: beyond what a tree has place for, more regions cost no more memory.
func BenchmarkOpenRegions(b *testing.B) {
	for _, n := range []int{1 << 14, 1 << 16, 1 << 18, 1 << 20} {
		b.Run(fmt.Sprintf("regions=%d", n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				tree := NewCallTree(sequence.Form{})
				for batch := range nestedRegions(n) {
					tree.Add(batch)
				}
				tree.Finish()
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/event")
		})
	}
}
