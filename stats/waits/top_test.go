package waits

import (
	"math/rand/v2"
	"slices"
	"testing"

	"tracekit/trace"
)

func TestLongest(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	for size := range 12 {
		top := longest(size)
		var all []Instance
		for i := range 200 {
			l := r.IntN(3)
			in := Instance{Time: r.Int64N(20), Location: trace.LocationID(l), order: uint32(l), seq: uint64(i)}
			all = append(all, in)
			top.Offer(in)
		}
		slices.SortFunc(all, compareInstances)
		if got := top.Sorted(); !slices.Equal(got, all[:size]) {
			t.Errorf("longest %d are %v, want %v", size, got, all[:size])
		}
	}
}
