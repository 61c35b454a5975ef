package overhead

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"tracekit/stats/fit"
	"tracekit/stats/waits"
	"tracekit/trace"
)

// TestSamplesDependOnCallsAlone: whoever meets which calls, and however many keys there are,
// the combined samples and the first calls of each key are the same. Beyond the limit keys
// have size classes, and say so.
func TestSamplesDependOnCallsAlone(t *testing.T) {
	o := &Finder{Finder: &waits.Finder{T: &trace.Trace{Tree: trace.NewCallTree()}}, ops: []string{"MPI_Send"}, op: []keyedOp{{}}, keep: 3}
	o.T.Tree.Add(trace.PathNode{Parent: trace.None})
	describe := func(s *samples) string {
		var lines []string
		for k, x := range s.byKey {
			lines = append(lines, fmt.Sprint(k, x.Len(), x.Sum(), x.Min(), x.Max(), s.order[k], "\n"))
		}
		slices.Sort(lines)
		return fmt.Sprint(lines)
	}
	for _, keys := range []int{5, keyLimit, keyLimit + 1, 3 * keyLimit} {
		const locations, calls = 8, 2000
		r := rand.New(rand.NewPCG(1, uint64(keys)))
		size := make([][calls]uint64, locations)
		for l := range size {
			for i := range size[l] {
				size[l][i] = uint64((l*calls + i) % keys)
				if i > calls/2 {
					size[l][i] = r.Uint64N(uint64(keys))
				}
			}
		}
		sampled := func(workers int) string {
			parts := make([]*samples, workers)
			for w := range parts {
				parts[w] = o.newSamples()
			}
			for k := range size {
				l := (k + 3*(workers-1)) % len(size) // each worker meets locations in any order
				for i, bytes := range size[l] {
					p, kind := parts[(l*l+l)/2%workers], callKind{size: waits.CallSize(bytes)}
					x := p.sampled[0].Of(kind)
					if x == nil {
						x = p.find(0, kind)
					}
					x.Add(int64(i % 77))
					p.keepFirst(kind, timedCall{location: trace.LocationID(l), row: uint32(i), enter: int64(i), time: int64(i % 77)})
				}
			}
			for _, p := range parts[1:] {
				parts[0].combine(p)
			}
			for k, x := range parts[0].byKey {
				if x.Class != (keys > keyLimit) {
					t.Fatalf("%d keys: a sample says that its size is a class: %v", keys, x.Class)
				}
				if keys > keyLimit && uint64(fit.SizeClass(int64(k.bytes))) != k.bytes {
					t.Fatalf("%d keys: %d bytes are no size class", keys, k.bytes)
				}
			}
			return describe(parts[0])
		}
		want := sampled(1)
		for _, workers := range []int{2, 3, 8} {
			if got := sampled(workers); got != want {
				t.Errorf("%d keys, %d workers: other samples than of one", keys, workers)
			}
		}
	}
}
