package sequence

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// A loopLog is a LoopFinder whose items 1 to 9 are no loops, with all that it reported.
type loopLog struct {
	LoopFinder
	bodies  [][]uint32 // by item
	counts  map[uint32][]uint64
	emitted []uint32
}

func newLoopLog(most int) *loopLog {
	l := &loopLog{bodies: make([][]uint32, 10), counts: make(map[uint32][]uint64)}
	l.LoopFinder = LoopFinder{
		Most:   most,
		Budget: math.MaxInt,
		Body:   func(item uint32) []uint32 { return l.bodies[item] },
		Define: func(body []uint32) uint32 {
			l.bodies = append(l.bodies, body)
			return uint32(len(l.bodies) - 1)
		},
		Ended: func(loop uint32, n uint64) { l.counts[loop] = append(l.counts[loop], n) },
		Emit:  func(item uint32) { l.emitted = append(l.emitted, item) },
	}
	return l
}

// visit adds the items of a visit and ends it.
func (l *loopLog) visit(seq ...uint32) {
	for _, item := range seq {
		l.Add(item)
	}
	l.End()
}

// unroll returns what was emitted, each loop as often repeated as it was reported.
func (l *loopLog) unroll() (out []uint32) {
	met := make(map[uint32]int)
	var put func(items []uint32)
	put = func(items []uint32) {
		for _, item := range items {
			body := l.bodies[item]
			if body == nil {
				out = append(out, item)
				continue
			}
			n := l.counts[item][met[item]]
			met[item]++
			for range n {
				put(body)
			}
		}
	}
	put(l.emitted)
	for item, n := range l.counts {
		if met[item] != len(n) {
			return nil // a loop was reported that nobody meets
		}
	}
	return out
}

// Loops are what was planted: L10 is the first that is found, L11 the next.
func TestPlantedLoops(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		most    int
		visits  [][]uint32
		emitted []uint32
		bodies  [][]uint32
		counts  map[uint32][]uint64
	}{
		{"no loop", 8, [][]uint32{{1, 2, 3, 1}}, []uint32{1, 2, 3, 1}, nil, nil},
		{"one item", 8, [][]uint32{{1, 1, 1, 1}}, []uint32{10}, [][]uint32{{1}}, map[uint32][]uint64{10: {4}}},
		{"a begun iteration", 8, [][]uint32{{1, 2, 3, 1, 2, 3, 1, 2}}, []uint32{10, 1, 2}, [][]uint32{{1, 2, 3}}, map[uint32][]uint64{10: {2}}},
		{"a loop in a loop", 8, [][]uint32{{1, 2, 2, 2, 3, 1, 2, 2, 2, 3, 1, 2, 2, 3, 4}}, []uint32{11, 4},
			[][]uint32{{2}, {1, 10, 3}}, map[uint32][]uint64{10: {3, 3, 2}, 11: {3}}},
		{"a known loop once", 8, [][]uint32{{1, 2, 1, 2}, {1, 2}, {1, 2, 3}}, []uint32{10, 10, 10, 3},
			[][]uint32{{1, 2}}, map[uint32][]uint64{10: {2, 1, 1}}},
		{"no loop across visits", 8, [][]uint32{{1, 2}, {1, 2}}, []uint32{1, 2, 1, 2}, nil, nil},
		{"a body that is too long", 2, [][]uint32{{1, 2, 3, 1, 2, 3}}, []uint32{1, 2, 3, 1, 2, 3}, nil, nil},
	} {
		l := newLoopLog(c.most)
		for _, v := range c.visits {
			l.visit(v...)
		}
		got := fmt.Sprintf("emitted %v, bodies %v, counts %v", l.emitted, l.bodies[10:], l.counts)
		if want := fmt.Sprintf("emitted %v, bodies %v, counts %v", c.emitted, c.bodies, c.counts); got != want {
			t.Errorf("%s: %s; want %s", c.name, got, want)
		}
	}
}

// Whatever the sequence, its loops unrolled are the sequence, and memory stays bounded.
func TestUnrolledLoops(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(7, 8))
	loops := 0
	for range 400 {
		l := newLoopLog(2 + r.IntN(6))
		var all []uint32
		for range 1 + r.IntN(3) {
			seq := loopy(r, 3)
			for _, item := range seq {
				l.Add(item)
				if len(l.items) > 4*l.Most {
					t.Fatalf("%d items are kept for bodies of at most %d", len(l.items), l.Most)
				}
			}
			l.End()
			all = append(all, seq...)
		}
		if got := l.unroll(); !slices.Equal(got, all) {
			t.Fatalf("bodies of at most %d: %v with %v repeated %v is\n%v, want\n%v", l.Most, l.emitted, l.bodies[10:], l.counts, got, all)
		}
		loops += len(l.bodies) - 10
		for _, b := range l.bodies {
			if len(b) > l.Most {
				t.Fatalf("body %v is longer than %d", b, l.Most)
			}
		}
	}
	if loops < 400 {
		t.Errorf("only %d loops", loops)
	}
}

// loopy returns a sequence with loops of the given depth, with a disturbance now and then.
func loopy(r *rand.Rand, depth int) (out []uint32) {
	for range 1 + r.IntN(3) {
		if depth == 0 || r.IntN(3) == 0 {
			out = append(out, 1+r.Uint32N(4))
			continue
		}
		body := loopy(r, depth-1)
		for range 1 + r.IntN(5) {
			out = append(out, body...)
			if r.IntN(12) == 0 {
				out = append(out, 5)
			}
		}
	}
	return out
}
