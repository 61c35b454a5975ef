package plots

import (
	"math"
	"strings"
	"testing"
)

// TestJoinedWindows checks that joining windows loses no count.
func TestJoinedWindows(t *testing.T) {
	d := sampleHistogram(100)
	for _, n := range []int{1, 2, 7, 99, 100, 101, 1000} {
		j := d.joined(n)
		if err := j.check(); err != nil {
			t.Fatalf("joined by %d: %v", n, err)
		}
		if sum(j.Counts) != sum(d.Counts) || math.Abs(sum(j.Models[0].Expected)-sum(d.Models[0].Expected)) > 1e-9 {
			t.Errorf("joined by %d: the counts changed", n)
		}
		if first, last := j.Edges[0], j.Edges[len(j.Edges)-1]; first != d.Edges[0] || last != d.Edges[100] {
			t.Errorf("joined by %d: edges %v to %v", n, first, last)
		}
	}
}

// TestHotCellsStay checks that the one hot cell of a large matrix is drawn,
// wherever it lies.
func TestHotCellsStay(t *testing.T) {
	for _, at := range []int{0, 1, 777, 2046, 2047} {
		d := MatrixData{Ranks: 2048, Entries: []MatrixEntry{{at, 2047 - at, 3}, {at, 2047 - at, 4}, {5, 5, 1}}}
		g := &sparseGrid{ranks: d.Ranks, values: map[[2]int]float64{}}
		for _, e := range d.Entries {
			g.values[[2]int{e.From, e.To}] += e.Value
		}
		h := &heat{HeatMapData: HeatMapData{Grid: g, Width: 500, Height: 400, Log: true}, values: noSpan()}
		if err := h.layout(); err != nil {
			t.Fatal(err)
		}
		if err := h.collect(); err != nil {
			t.Fatal(err)
		}
		hottest := 0.0
		for _, v := range h.cells {
			hottest = max(hottest, v)
		}
		if hottest != 7 || h.values != (span{1, 7}) || h.depth(7) != 1 || h.depth(1) != 0 {
			t.Errorf("cell %d: the hottest shown is %v of %v", at, hottest, h.values)
		}
	}
}

// TestStackSharesLegends: categories stand in one order in the legends of both
// diagrams, though their indices and weights differ.
func TestStackSharesLegends(t *testing.T) {
	make := func(names ...string) *Timeline {
		o := TimelineOptions{To: 100, Ranks: []string{"0"}}
		for _, n := range names {
			o.Categories = append(o.Categories, Category{Name: n})
		}
		tl := newTimeline(t, o)
		return tl
	}
	a, b := make("x", "y"), make("z", "y", "x")
	feedPieces(t, a, 0, []piece{{0, 60, 0, Code}, {60, 100, 1, Code}})
	feedPieces(t, b, 0, []piece{{0, 10, 2, Code}, {10, 90, 1, Code}, {90, 100, 0, Wait}})
	legends := commonLegends([]*Timeline{a, b})
	// Each has its own shares, in one order: y has 120 of 200 ns in both, x 70. z has none and
	// is not listed, waiting only where somebody waits.
	for i, want := range []string{"y 40.0 %, x 60.0 %", "y 80.0 %, x 10.0 %, waiting 10.0 %"} {
		var got []string
		for _, e := range append(legends[i].shown(10), legends[i].marks...) {
			got = append(got, e.name+" "+e.value)
		}
		if strings.Join(got, ", ") != want {
			t.Errorf("legend %d: %q, want %q", i, strings.Join(got, ", "), want)
		}
	}
}

// In a stack messages and collectives are drawn in one way: densities on one scale as soon as
// one diagram needs them.
func TestStackDrawsAlike(t *testing.T) {
	make := func(messages, collectives int) *Timeline {
		tl := newTimeline(t, TimelineOptions{To: 1000, Ranks: []string{"0", "1"}, MessageLimit: 10})
		for range messages {
			tl.Message(Message{From: 0, To: 1, Sent: 100, Done: 200, Bytes: 8})
		}
		for i := range collectives {
			tl.Collective(Collective{Ranks: []int{0, 1}, Begin: []int64{int64(i % 900), int64(i % 900)},
				End: []int64{int64(i%900) + 1, int64(i%900) + 1}})
		}
		return tl
	}
	for _, c := range []struct {
		messages, collectives [2]int
		dense, ticks          bool
	}{
		{[2]int{3, 2}, [2]int{1, 2}, false, false},
		{[2]int{3, 11}, [2]int{1, 2}, true, false},
		{[2]int{11, 3}, [2]int{1, 9000}, true, true},
	} {
		a, b := make(c.messages[0], c.collectives[0]), make(c.messages[1], c.collectives[1])
		if _, err := Stack(a, b); err != nil {
			t.Fatal(err)
		}
		for i, tl := range []*Timeline{a, b} {
			if tl.messages.dense() != c.dense || tl.collectives.dense() != c.ticks {
				t.Errorf("%+v: diagram %d: dense %v, ticks %v", c, i, tl.messages.dense(), tl.collectives.dense())
			}
		}
		if peak := max(a.messages.peak(), b.messages.peak()); a.messages.scale != peak || b.messages.scale != peak {
			t.Errorf("%+v: scales %d and %d, want %d", c, a.messages.scale, b.messages.scale, peak)
		}
	}
}

func TestPercent(t *testing.T) {
	for v, want := range map[float64]string{0: "0.0 %", 0.0001: "<0.1 %", 0.5: "50.0 %", 0.9999: ">99.9 %", 1: "100.0 %"} {
		if got := percent(v); got != want {
			t.Errorf("%v: got %q, want %q", v, got, want)
		}
	}
}

// TestLegendOverflow draws more colors, and longer names, than there is room.
func TestLegendOverflow(t *testing.T) {
	for _, height := range []int{minHeight, 400} {
		o := TimelineOptions{To: 1000, Ranks: []string{"a rank with an uncommonly long name, longer than the picture is wide"},
			Width: minWidth, Height: height}
		for range 100 {
			o.Categories = append(o.Categories, Category{Name: strings.Repeat("name ", 500)})
		}
		tl := newTimeline(t, o)
		l := tl.Lane(0)
		for i := range 100 {
			l.Segment(int64(i*10), int64(i*10+10), i, Code)
		}
		if err := tl.Add(l); err != nil {
			t.Fatal(err)
		}
		draws(t, tl.Figure())
	}
}

// TestLogAxisLeavesOut says in a note how many points have no logarithm.
func TestLogAxisLeavesOut(t *testing.T) {
	s := Series{Name: "s", X: []float64{0, 1, 2, 4}, Y: []float64{1, -1, 3, 4}, Low: []float64{1, -2, 0, 3}, High: []float64{2, 2, 4, 5}}
	if got := s.drawable(true, true); len(got.X) != 1 || got.X[0] != 4 || got.Low[0] != 3 {
		t.Errorf("both axes logarithmic: %+v", got)
	}
	if got := s.drawable(true, false); len(got.X) != 3 {
		t.Errorf("X logarithmic: %+v", got)
	}
	if got := s.drawable(false, false); len(got.X) != 4 || len(got.High) != 4 {
		t.Errorf("linear: %+v", got)
	}
}

// TestScaleEnds: the scale of a heat map labels its least and its greatest value, and between them only what has room.
func TestScaleEnds(t *testing.T) {
	for _, c := range []struct {
		values span
		log    bool
		unit   Unit
	}{{span{0, 38.7e6}, false, Nanoseconds}, {span{120, 64 << 20}, true, Bytes}, {span{3, 4}, true, Count}, {span{0, 1}, false, Share}} {
		for _, height := range []int{60, 114, 400} {
			h := &heat{HeatMapData: HeatMapData{Log: c.log, Unit: c.unit}, values: c.values}
			ticks := h.scaleTicks(height)
			if ticks[0] != c.values.lo || ticks[len(ticks)-1] != c.values.hi {
				t.Errorf("%v, %d pixels: labels %v", c.values, height, ticks)
			}
			for i, v := range ticks[1:] {
				if gap := (h.depth(v) - h.depth(ticks[i])) * float64(height); gap < 12 {
					t.Errorf("%v, %d pixels: labels %v and %v are %.0f pixels apart", c.values, height, ticks[i], v, gap)
				}
			}
		}
	}
}
