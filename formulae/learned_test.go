package formulae_test

import (
	"testing"

	"tracekit/engine"
	"tracekit/formulae"
	"tracekit/trace"
)

// A rank that receives from eight others in an order of no rule, again and again, and with
// one tag: eight terms are needed for the senders, one for the tag. A progression of senders
// takes two terms.
func TestLearnedByMemory(t *testing.T) {
	orders := [][]uint32{{1, 5, 2, 9, 7, 3, 8, 6}, {1, 2, 3, 4, 5, 6, 7, 8}}
	src := &trace.MemorySource{Definitions: &trace.Defs{Strings: []string{""}, Locations: make([]trace.Location, len(orders))}}
	for l, order := range orders {
		b := &trace.Batch{}
		b.Reset(trace.LocationID(l), 0)
		for i := range 10 * len(order) {
			b.AddP2P(trace.P2PRow{Time: int64(i), Kind: trace.KindMpiRecv, Peer: order[i%len(order)], Tag: 4})
		}
		src.Batches = append(src.Batches, []*trace.Batch{b})
	}
	rows, err := formulae.LearnedByMemory(t.Context(), src, []int{2, 7, 8, 18}, false, engine.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []uint64{1, 1, 2, 2} {
		r := rows[i]
		if s := r.RecvSenders; s.Constructs != 2 || s.Learned != want || s.Static != float64(want)/2 {
			t.Errorf("%d terms: %d of %d senders learned, want %d of 2", r.Terms, s.Learned, s.Constructs, want)
		}
		if s := r.RecvTags; s.Constructs != 2 || s.Learned != 2 || s.ByKind.Identity != 2 {
			t.Errorf("%d terms: tags learned: %+v", r.Terms, s)
		}
		if s := r.SendReceivers; s.Constructs != 0 || s.Static != 1 {
			t.Errorf("%d terms: sends that nobody made: %+v", r.Terms, s)
		}
	}
}

// Straight-line code beyond the memory is learned only in the form that is not the paper's.
func TestPaperForm(t *testing.T) {
	src := &trace.MemorySource{Definitions: &trace.Defs{Strings: []string{""}, Locations: make([]trace.Location, 1),
		Regions: make([]trace.Region, 9)}}
	b := &trace.Batch{}
	b.Reset(0, 0)
	for i, region := range []trace.RegionID{0, 1, 2, 0, 3, 4, 5, 3, 6, 7, 8, 6} {
		b.AddFlow(int64(2*i), trace.KindEnter, region)
		b.AddFlow(int64(2*i+1), trace.KindLeave, region)
	}
	src.Batches = [][]*trace.Batch{{b}}
	for paper, want := range map[bool]uint64{false: 1, true: 0} {
		rows, err := formulae.LearnedByMemory(t.Context(), src, []int{5}, paper, engine.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if s := rows[0].Branches; s.Constructs != 1 || s.Learned != want {
			t.Errorf("paper %v: branches %+v", paper, s)
		}
	}
}
