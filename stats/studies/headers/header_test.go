package headers

import (
	"testing"

	"tracekit/document"
)

// TestLayouts: headers have the bytes that their names say, and come back from them, but for
// what the layout has no room for.
func TestLayouts(t *testing.T) {
	h := Header{Times: [Explicit]uint64{1 << 63, 7, 6, 5, 4, 3, 2, 1}, Tags: [Explicit]uint8{255, 1, 2, 3, 4, 5, 6, 0}, Other: 1<<64 - 1,
		Mask: 1<<63 | 1, Hops: 1<<32 - 1, Self: 3600}
	for _, x := range []struct {
		layout          Layout
		bytes, counters int
		hops            uint32
		self            uint64
	}{{Layout92, 92, 9, h.Hops, 0}, {Layout96, 96, 10, 0, h.Self}} {
		b := x.layout.Append(nil, &h)
		if len(b) != x.bytes || x.layout.Counters() != x.counters {
			t.Errorf("layout %d: %d bytes with %d counters, want %d and %d", x.layout, len(b), x.layout.Counters(), x.bytes, x.counters)
		}
		want := h
		want.Hops, want.Self = x.hops, x.self
		if got, err := x.layout.Decode(b); err != nil || got != want {
			t.Errorf("layout %d: %+v comes back as %+v, %v", x.layout, want, got, err)
		}
		for _, wrong := range [][]byte{nil, b[:len(b)-1], append(b, 0)} {
			if _, err := x.layout.Decode(wrong); err == nil {
				t.Errorf("layout %d: %d bytes are taken for a header", x.layout, len(wrong))
			}
		}
	}
}

// TestLayoutOrder states where in a message each part of a header lies.
func TestLayoutOrder(t *testing.T) {
	h := Header{Times: [Explicit]uint64{0: 1, 7: 2}, Tags: [Explicit]uint8{0: 9, 7: 8}, Other: 3, Mask: 4, Hops: 5, Self: 6}
	for layout, want := range map[Layout]map[int]byte{
		Layout92: {7: 1, 63: 2, 71: 3, 79: 4, 83: 5, 84: 9, 91: 8},
		Layout96: {7: 1, 63: 2, 71: 3, 79: 4, 87: 6, 88: 9, 95: 8},
	} {
		for i, v := range layout.Append(nil, &h) {
			if v != want[i] {
				t.Errorf("layout %d: byte %d is %d, want %d", layout, i, v, want[i])
			}
		}
	}
}

// TestMerge: the largest that are not masked have counters, whether they come from the header
// or are added; nothing is lost.
func TestMerge(t *testing.T) {
	full := Header{Times: [Explicit]uint64{90, 80, 70, 60, 50, 40, 30, 20}, Tags: [Explicit]uint8{1, 2, 3, 4, 5, 6, 7, 8}, Other: 5}
	masked := full
	masked.Mask = 1<<2 | 1<<9
	for name, x := range map[string]struct {
		header Header
		add    []int64
		times  [Explicit]uint64
		tags   [Explicit]uint8
		other  uint64
	}{
		"nothing":        {full, nil, full.Times, full.Tags, 5},
		"to an empty":    {Header{}, []int64{11: 7, 12: 9}, [Explicit]uint64{9, 7}, [Explicit]uint8{12, 11}, 0},
		"adds up":        {full, []int64{8: 100}, [Explicit]uint64{120, 90, 80, 70, 60, 50, 40, 30}, [Explicit]uint8{8, 1, 2, 3, 4, 5, 6, 7}, 5},
		"takes the last": {full, []int64{9: 21}, [Explicit]uint64{90, 80, 70, 60, 50, 40, 30, 21}, [Explicit]uint8{1, 2, 3, 4, 5, 6, 7, 9}, 25},
		"is too small":   {full, []int64{9: 19}, full.Times, full.Tags, 24},
		"is as large":    {full, []int64{9: 20}, full.Times, full.Tags, 25},
		"masked": {masked, []int64{9: 1000, 10: 1}, [Explicit]uint64{90, 70, 60, 50, 40, 30, 20, 1}, [Explicit]uint8{1, 3, 4, 5, 6, 7, 8, 10},
			5 + 80 + 1000},
		"beyond the mask": {Header{Mask: 1<<64 - 1}, []int64{64: 3, 63: 2}, [Explicit]uint64{3}, [Explicit]uint8{64}, 2},
	} {
		got, m := x.header, merger{}
		m.merge(&got, x.add)
		if got.Times != x.times || got.Tags != x.tags || got.Other != x.other {
			t.Errorf("%s: %v of %v and %d, want %v of %v and %d", name, got.Times, got.Tags, got.Other, x.times, x.tags, x.other)
		}
		sum := x.header.Total()
		for _, v := range x.add {
			sum += uint64(v)
		}
		if got.Total() != sum {
			t.Errorf("%s: the total is %d, want %d", name, got.Total(), sum)
		}
	}
}

// TestOpposite: the ranks that sample lie far from each other, and messages lead from one to
// the other and, where that can be, back.
func TestOpposite(t *testing.T) {
	for name, x := range map[string]struct {
		edges       [][2]uint32
		ranks       int
		a, b        uint32
		there, back int
		ok          bool
	}{
		"none":         {nil, 3, 0, 0, 0, 0, false},
		"self":         {[][2]uint32{{1, 1}}, 3, 0, 0, 0, 0, false},
		"chain":        {[][2]uint32{{0, 1}, {1, 0}, {1, 2}, {2, 1}, {2, 3}, {3, 2}}, 4, 0, 3, 3, 3, true},
		"one way":      {[][2]uint32{{1, 0}}, 2, 1, 0, 1, 0, true},
		"star":         {[][2]uint32{{0, 1}, {1, 0}, {0, 2}, {2, 0}}, 3, 1, 2, 2, 2, true},
		"two apart":    {[][2]uint32{{0, 1}, {1, 0}, {2, 3}, {3, 2}}, 4, 0, 1, 1, 1, true},
		"out of range": {[][2]uint32{{0, 9}, {9, 0}, {0, 1}}, 2, 0, 1, 1, 0, true},
	} {
		var cells []document.MatrixCell
		for _, e := range x.edges {
			cells = append(cells, document.MatrixCell{From: e[0], To: e[1], Count: 1})
		}
		g := newGraph(cells, x.ranks)
		a, b, ok := g.opposite()
		if a != x.a || b != x.b || ok != x.ok || ok && (g.hops(a, b) != x.there || g.hops(b, a) != x.back) {
			t.Errorf("%s: %d and %d, %v", name, a, b, ok)
		}
	}
}
