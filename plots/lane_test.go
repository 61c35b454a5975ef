package plots

import (
	"bytes"
	"math"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
)

// flat makes a diagram of n ranks and k categories, small enough to reason
// about, with as many rows as its height holds.
func flat(t testing.TB, from, to int64, ranks, categories int) *Timeline {
	t.Helper()
	tl, err := NewTimeline(TimelineOptions{
		From: from, To: to, Ranks: rankNames(ranks), Categories: make([]Category, categories), Width: 400, Height: 200,
	})
	if err != nil {
		t.Fatal(err)
	}
	return tl
}

// A piece is one segment as a test feeds it.
type piece struct {
	start, end int64
	category   int
	kind       Kind
}

// randomPieces cuts a range of time, a little wider than the diagram's, into
// segments of very different lengths with gaps between some of them.
func randomPieces(r *rand.Rand, from, to int64, categories int) []piece {
	var out []piece
	longest := 1 + r.Int64N(max(1, (to-from)/20))
	for at := from - longest; at < to+longest; {
		end := at + r.Int64N(longest+1)
		if r.IntN(10) > 0 {
			kind := Kind(max(0, r.IntN(5)-3))
			out = append(out, piece{at, end, r.IntN(categories), kind})
		}
		at = end + r.Int64N(2)
	}
	return out
}

func feedPieces(t testing.TB, tl *Timeline, rank int, pieces []piece) {
	t.Helper()
	l := tl.Lane(rank)
	for _, p := range pieces {
		l.Segment(p.start, p.end, p.category, p.kind)
	}
	if err := tl.Add(l); err != nil {
		t.Fatal(err)
	}
}

// overlap is the time that a piece has in [from, to).
func (p piece) overlap(from, to int64) int64 { return max(0, min(p.end, to)-max(p.start, from)) }

// TestCellsAgainstOracle sums every column anew from all segments.
func TestCellsAgainstOracle(t *testing.T) {
	for seed := range uint64(30) {
		r := rand.New(rand.NewPCG(seed, 7))
		from := r.Int64N(1e6) - 5e5
		to := from + 1 + r.Int64N(1_000_000)
		tl := flat(t, from, to, 1, 5)
		pieces := randomPieces(r, from, to, 5)
		feedPieces(t, tl, 0, pieces)
		for c := range tl.columns() {
			checkCell(t, tl.rows[0][c], tl.bounds[c], tl.bounds[c+1], pieces)
		}
	}
}

func checkCell(t *testing.T, got cell, from, to int64, pieces []piece) {
	t.Helper()
	var want cell
	var sums [5]int64
	for _, p := range pieces {
		ns := p.overlap(from, to)
		switch p.kind {
		case Wait:
			want.wait += ns
		default:
			want.code += ns
			sums[p.category] += ns
		}
	}
	best := 0
	for i, ns := range sums {
		if ns > sums[best] {
			best = i
		}
	}
	if got.code != want.code || got.wait != want.wait {
		t.Fatalf("column %d to %d: got %d code, %d wait, want %d, %d", from, to, got.code, got.wait, want.code, want.wait)
	}
	if got.ns[0] != sums[best] || want.code > 0 && int(got.slot[0]) != best {
		t.Fatalf("column %d to %d: category %d with %d leads, want %d with %d", from, to, got.slot[0], got.ns[0], best, sums[best])
	}
}

// TestRowsAddUp feeds more ranks than rows: nothing may get lost or counted
// twice, whatever the order of the ranks.
func TestRowsAddUp(t *testing.T) {
	const ranks = 512
	build := func(order []int) *Timeline {
		tl := flat(t, 0, 100_000, ranks, 4)
		for _, rank := range order {
			feedPieces(t, tl, rank, randomPieces(rand.New(rand.NewPCG(uint64(rank), 3)), 0, 100_000, 4))
		}
		return tl
	}
	up := rand.New(rand.NewPCG(1, 1)).Perm(ranks)
	tl := build(up)
	if len(tl.rows) >= ranks {
		t.Fatalf("%d rows: the test wants fewer than ranks", len(tl.rows))
	}
	var wantCode, wantWait, code, wait int64
	for rank := range ranks {
		for _, p := range randomPieces(rand.New(rand.NewPCG(uint64(rank), 3)), 0, 100_000, 4) {
			ns := p.overlap(0, 100_000)
			switch p.kind {
			case Wait:
				wantWait += ns
			default:
				wantCode += ns
			}
		}
	}
	for row := range tl.rows {
		for i, c := range tl.rows[row] {
			code, wait = code+c.code, wait+c.wait
			if room := (tl.bounds[i+1] - tl.bounds[i]) * int64(tl.inRow[row]); c.code+c.wait > room {
				t.Fatalf("row %d, column %d holds %d of %d ns", row, i, c.code+c.wait, room)
			}
			if c.ns[0] < c.ns[1] || c.ns[1] < c.ns[2] || c.ns[0]+c.ns[1]+c.ns[2] > c.code {
				t.Fatalf("row %d, column %d: votes %v of %d", row, i, c.ns, c.code)
			}
		}
	}
	if code != wantCode || wait != wantWait {
		t.Errorf("cells hold %d, %d ns, want %d, %d", code, wait, wantCode, wantWait)
	}
	if tl.weight[4] != wantWait {
		t.Errorf("weights hold %d ns, want %d", tl.weight[4], wantWait)
	}
}

// TestRowRanks checks that every rank lies in exactly one row, in order.
func TestRowRanks(t *testing.T) {
	for _, ranks := range []int{1, 4, 127, 128, 129, 512, 5000} {
		tl := flat(t, 0, 1000, ranks, 1)
		sum, last := 0, 0
		for row := range tl.rows {
			sum += tl.inRow[row]
		}
		for r := range ranks {
			if row := tl.RowOf(r); row < last || row > last+1 {
				t.Fatalf("%d ranks: rank %d in row %d after %d", ranks, r, row, last)
			} else {
				last = row
			}
		}
		if sum != ranks || last != len(tl.rows)-1 {
			t.Errorf("%d ranks: rows hold %d, the last is %d of %d", ranks, sum, last, len(tl.rows))
		}
	}
}

// TestExtremeTimes uses ranges at and near the limits of 64 bits.
func TestExtremeTimes(t *testing.T) {
	for _, r := range []span64{{0, 1}, {0, 3}, {-5, 5}, {0, math.MaxInt64}, {math.MinInt64, -1},
		{math.MaxInt64 - 10, math.MaxInt64}, {-1 << 62, 1<<62 - 1}, {5e18, 5e18 + 100}} {
		tl := flat(t, r.from, r.to, 2, 1)
		feedPieces(t, tl, 0, []piece{{math.MinInt64, math.MaxInt64, 0, Code}})
		feedPieces(t, tl, 1, []piece{{r.from, r.from + (r.to-r.from)/2, 0, Wait}})
		tl.Message(Message{From: 0, To: 1, Sent: r.from, Done: r.to})
		tl.Message(Message{From: 1, To: 0, Sent: math.MinInt64, Done: math.MaxInt64})
		tl.Collective(Collective{[]int{0, 1}, []int64{math.MinInt64, r.from}, []int64{r.to, math.MaxInt64}})
		if got := tl.weight[0]; got != r.to-r.from {
			t.Errorf("%v: %d ns drawn", r, got)
		}
		draws(t, tl.Figure())
	}
}

type span64 struct{ from, to int64 }

func TestTimelineRefuses(t *testing.T) {
	good := TimelineOptions{To: 100, Ranks: rankNames(2), Categories: make([]Category, 1)}
	for _, c := range []struct {
		name   string
		change func(*TimelineOptions)
		want   string
	}{
		{"empty range", func(o *TimelineOptions) { o.From = 100 }, "empty"},
		{"backward range", func(o *TimelineOptions) { o.From = 200 }, "empty"},
		{"range beyond 64 bits", func(o *TimelineOptions) { o.From, o.To = -1, math.MaxInt64 }, "too long"},
		{"no ranks", func(o *TimelineOptions) { o.Ranks = nil }, "no ranks"},
		{"tiny", func(o *TimelineOptions) { o.Width = 20 }, "pixels"},
		{"huge", func(o *TimelineOptions) { o.Height = 1 << 30 }, "pixels"},
		{"unknown mode", func(o *TimelineOptions) { o.Messages = 9 }, "drawing messages"},
	} {
		o := good
		c.change(&o)
		if _, err := NewTimeline(o); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got error %v, want one with %q", c.name, err, c.want)
		}
	}
}

func TestLaneRefuses(t *testing.T) {
	for _, c := range []struct {
		name   string
		pieces []piece
	}{
		{"overlap", []piece{{0, 50, 0, Code}, {40, 60, 0, Code}}},
		{"backward", []piece{{60, 50, 0, Code}}},
		{"unknown category", []piece{{0, 50, 2, Code}}},
		{"negative category", []piece{{0, 50, -1, Code}}},
		{"unknown kind", []piece{{0, 50, 0, kinds}}},
	} {
		tl := flat(t, 0, 100, 1, 2)
		l := tl.Lane(0)
		for _, p := range c.pieces {
			l.Segment(p.start, p.end, p.category, p.kind)
		}
		if err := tl.Add(l); err == nil || !strings.Contains(err.Error(), "out of order or unknown") {
			t.Errorf("%s: got error %v", c.name, err)
		}
	}
}

func TestRankAddedTwice(t *testing.T) {
	tl := flat(t, 0, 100, 2, 1)
	if err := tl.Add(tl.Lane(1)); err != nil {
		t.Fatal(err)
	}
	if err := tl.Add(tl.Lane(1)); err == nil {
		t.Error("no error for a rank added twice")
	}
}

// TestLanesAtOnce fills lanes from several goroutines; the picture must be
// the one that a single goroutine makes.
func TestLanesAtOnce(t *testing.T) {
	s := sampleRun{ranks: 8, steps: 5}
	at := s.small(t, 480, 240)
	tl := newTimeline(t, at.opts)
	lanes := make([]*Lane, s.ranks)
	var all sync.WaitGroup
	for r := range lanes {
		all.Go(func() {
			lanes[r] = tl.Lane(r)
			s.lane(lanes[r])
		})
	}
	all.Wait()
	for _, l := range lanes {
		if err := tl.Add(l); err != nil {
			t.Fatal(err)
		}
	}
	for step := range s.steps {
		s.communicate(tl, step)
	}
	if !bytes.Equal(draws(t, tl.Figure()), draws(t, at.Figure())) {
		t.Error("the pictures differ")
	}
}

// FuzzLane feeds arbitrary bytes as segments: no panic, and whatever was
// accepted adds up.
func FuzzLane(f *testing.F) {
	f.Add([]byte{0, 10, 0, 0, 3, 20, 1, 1}, uint16(100))
	f.Add([]byte{255, 255, 7, 9}, uint16(1))
	f.Fuzz(func(t *testing.T, data []byte, span uint16) {
		tl := flat(t, 0, int64(span)+1, 1, 3)
		l := tl.Lane(0)
		var want, at int64
		for ; len(data) >= 4; data = data[4:] {
			p := piece{at + int64(int8(data[0])), at + int64(data[1]), int(int8(data[2])), Kind(data[3] % 4)}
			l.Segment(p.start, p.end, p.category, p.kind)
			if l.err != nil {
				break
			}
			want += p.overlap(0, int64(span)+1)
			at = max(at, p.end)
		}
		if tl.Add(l) != nil {
			return
		}
		var got int64
		for _, c := range tl.rows[0] {
			got += c.code + c.wait
		}
		if got != want {
			t.Fatalf("%d ns drawn of %d", got, want)
		}
	})
}

// BenchmarkSegments measures feeding segments much shorter than a pixel.
func BenchmarkSegments(b *testing.B) {
	const n = 10_000_000
	var l *Lane
	for b.Loop() {
		l = flat(b, 0, n*100, 1, 16).Lane(0)
		for i := range int64(n) {
			l.Segment(i*100, i*100+100, int(i&15), Kind(i>>4&1))
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/segment")
}

func newTimeline(t testing.TB, o TimelineOptions) *Timeline {
	t.Helper()
	tl, err := NewTimeline(o)
	if err != nil {
		t.Fatal(err)
	}
	return tl
}
