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
		top := Longest{Size: size}
		var all []Instance
		for i := range 200 {
			in := Instance{Time: r.Int64N(20), Location: trace.LocationID(r.IntN(3)), Seq: uint64(i)}
			all = append(all, in)
			top.Add(in)
		}
		slices.SortFunc(all, CompareInstances)
		if got := top.Sorted(); !slices.Equal(got, all[:size]) {
			t.Errorf("longest %d are %v, want %v", size, got, all[:size])
		}
	}
}
