package trace

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"tracekit/spill"
)

func TestCorrectOffset(t *testing.T) {
	three := []ClockOffset{{Time: 0, Offset: 100}, {Time: 1000, Offset: 200}, {Time: 2000, Offset: 0}}
	for _, c := range []struct {
		name    string
		offsets []ClockOffset
		t, want int64
	}{
		{"none", nil, 500, 500},
		{"one is no correction", three[:1], 500, 500},
		{"at the first", three, 0, 100},
		{"at the second", three, 1000, 1200},
		{"at the last", three, 2000, 2000},
		{"within the first interval", three, 500, 650},
		{"within the second", three, 1500, 1600},
		{"before", three, -500, -450},         // slope 0.1: 100 - 50
		{"after", three, 3000, 2800},          // slope -0.2: 0 - 200
		{"half to even, down", three, 5, 105}, // 0.5 rounds to 0
		{"half to even, up", three, 15, 117},  // 1.5 rounds to 2
		{"half, negative", three, -5, 95},     // -0.5 rounds to 0
	} {
		if got := CorrectOffset(c.offsets, c.t); got != c.want {
			t.Errorf("%s: %d becomes %d, want %d", c.name, c.t, got, c.want)
		}
	}
}

// knots returns a table of knots.
func knots(t *testing.T, all ...Knot) *spill.Table[Knot] {
	t.Helper()
	store := spill.NewStore(0, t.TempDir())
	t.Cleanup(func() { store.Close() })
	table := spill.NewTable[Knot](store)
	table.AppendRows(all)
	return table
}

func TestKnots(t *testing.T) {
	m := ClockMap{Knots: knots(t, Knot{Time: 100, Shift: 10}, Knot{Time: 200, Shift: 30})}
	for at, want := range map[int64]int64{0: 10, 100: 110, 150: 170, 200: 230, 999: 1029} {
		if got := m.At(at); got != want {
			t.Errorf("%d becomes %d, want %d", at, got, want)
		}
	}
}

func TestIdentity(t *testing.T) {
	for _, c := range []struct {
		m    ClockMap
		want bool
	}{
		{ClockMap{}, true},
		{ClockMap{Offsets: []ClockOffset{{Offset: 5}}}, true},
		{ClockMap{Offsets: make([]ClockOffset, 2)}, false},
		{ClockMap{Knots: knots(t, Knot{})}, false},
	} {
		if got := c.m.Identity(); got != c.want {
			t.Errorf("%+v: %v", c.m, got)
		}
	}
}

// TestCorrectIsAt: a whole stream is corrected as each time alone, but for times that
// would decrease; however the stream is cut.
func TestCorrectIsAt(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	store := spill.NewStore(0, t.TempDir())
	defer store.Close()
	for range 200 {
		m := randomMap(store, r)
		var times []int64
		at := r.Int64N(100) - 50
		for range 100 {
			times = append(times, at)
			at += r.Int64N(40) - 3 // now and then backwards
		}
		want, last := []int64(nil), int64(-1<<62)
		for _, x := range times {
			last = max(last, m.At(x))
			want = append(want, last)
		}
		cut := r.IntN(len(times))
		got := slices.Clone(times)
		mid := m.Correct(got[:cut], -1<<62)
		if end := m.Correct(got[cut:], mid); end != last {
			t.Fatalf("last is %d, want %d", end, last)
		}
		if !slices.Equal(got, want) {
			t.Fatalf("%+v:\n%v\n%v", m, got, want)
		}
	}
}

func randomMap(store *spill.Store, r *rand.Rand) ClockMap {
	m := ClockMap{Knots: spill.NewTable[Knot](store)}
	at := r.Int64N(200) - 100
	for range r.IntN(5) {
		m.Offsets = append(m.Offsets, ClockOffset{Time: at, Offset: r.Int64N(100)})
		at += 1 + r.Int64N(500)
	}
	at = r.Int64N(200) - 100
	for range r.IntN(5) {
		m.Knots.Append(Knot{Time: at, Shift: r.Int64N(100)})
		at += 1 + r.Int64N(500)
	}
	return m
}

func TestNanoseconds(t *testing.T) {
	for _, c := range []struct {
		resolution uint64
		ticks      int64
		want       int64
	}{
		{1e9, -5, -5},
		{1e6, 7, 7000},
		{3, 1, 333_333_333},
		{3, -1, -333_333_333},
		{1, math.MaxInt64, math.MaxInt64},
		{1, math.MinInt64, -math.MaxInt64},
		{2e9, math.MaxInt64, math.MaxInt64 / 2},
	} {
		if got := (ClockProperties{Resolution: c.resolution}).Nanoseconds(c.ticks); got != c.want {
			t.Errorf("%d ticks at %d/s are %d ns, want %d", c.ticks, c.resolution, got, c.want)
		}
	}
}
