package merge

import (
	"math"
	"math/rand/v2"
	"testing"

	"tracekit/spill"
	"tracekit/trace"
)

// TestRequestTable compares the table with a map under random use: few requests are open
// at a time, and many identifiers share a place in the table.
func TestRequestTable(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	var table requestTable
	want := make(map[uint64]request)
	for i := range 200_000 {
		id, kind := r.Uint64N(60)<<r.IntN(40), sendRequest+requestKind(r.IntN(2))
		if r.IntN(2) == 0 || len(want) > 40 {
			got, ok := table.take(id, kind)
			w, found := want[id]
			if found = found && w.kind == kind; ok != found || ok && got != w {
				t.Fatalf("step %d: take(%d, %d) is %+v, %t; want %+v, %t", i, id, kind, got, ok, w, found)
			}
			if found {
				delete(want, id)
			}
			continue
		}
		slot := table.open(id)
		if *slot != want[id] {
			t.Fatalf("step %d: open(%d) is %+v, want %+v", i, id, *slot, want[id])
		}
		*slot = request{id: id, seq: uint64(i), kind: kind}
		want[id] = *slot
		if got := table.kind(id); got != kind || table.n != len(want) {
			t.Fatalf("step %d: kind %d of %d requests, want %d of %d", i, got, table.n, kind, len(want))
		}
	}
	open := 0
	table.each(func(r request) {
		open++
		if want[r.id] != r {
			t.Errorf("%+v is open, want %+v", r, want[r.id])
		}
	})
	if open != len(want) || len(table.slots) > 256 {
		t.Errorf("%d requests are open in %d slots, want %d", open, len(table.slots), len(want))
	}
}

// TestChannelTable compares the table with a map: channels come and go, and the table
// stays small although there are many in the course of time.
func TestChannelTable(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	var table channelTable
	want := make(map[channelKey]ref)
	for i := range 200_000 {
		k := channelKey{trace.CommID(r.IntN(2)), uint32(r.IntN(4)), uint32(r.IntN(4)), uint32(i/1000 + r.IntN(3))}
		c := table.find(k)
		w, waits := want[k]
		if c.key != k || waits != (c.waiting == sendsWait) || waits && c.head != w {
			t.Fatalf("step %d: %+v, want %+v, %t", i, *c, w, waits)
		}
		if waits {
			c.pop(noRef)
			delete(want, k)
		} else if len(want) < 100 {
			at := ref{1, uint32(i)}
			*c = channel{key: k, waiting: sendsWait, head: at, tail: at}
			want[k] = at
		}
	}
	n := 0
	table.each(func(c *channel) {
		n++
		if want[c.key] != c.head {
			t.Errorf("%+v waits", *c)
		}
	})
	if n != len(want) || len(table.slots) > 2048 {
		t.Errorf("%d channels wait in %d slots, want %d", n, len(table.slots), len(want))
	}
}

// randomMarks returns marks with jumps, fading shifts, and sends that bound them.
func randomMarks(store *spill.Store, r *rand.Rand, n int) *spill.Table[mark] {
	marks := tableOf(store, free(0, 0))
	for marks.Len() < n {
		last := marks.At(marks.Len() - 1)
		dt := 1 + r.Int64N(1<<(1+r.IntN(16)))
		m := mark{time: last.time + dt, forward: max(0, last.forward-dt/fades[0]), low: math.MinInt64, high: unbounded}
		if r.IntN(10) == 0 {
			m.forward += r.Int64N(1000)
			m.low = m.forward
		}
		if r.IntN(3) == 0 {
			m.high = m.forward + r.Int64N(100)
		}
		marks.Append(m)
	}
	return marks
}

func tableOf[T any](store *spill.Store, rows ...T) *spill.Table[T] {
	t := spill.NewTable[T](store)
	t.AppendRows(rows)
	return t
}

// TestAmortise: shifts stay within their bounds, and rise no steeper than the ramp unless a
// send forces them to.
func TestAmortise(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	store := spill.NewStore(0, t.TempDir())
	defer store.Close()
	for range 20 {
		marks, free := randomMarks(store, r, 5000), spill.NewTable[mark](store)
		amortise(marks)
		for i := range marks.Len() {
			m := marks.At(i)
			if m.shift < m.forward || m.shift > m.high {
				t.Fatalf("mark %d: %+v", i, m)
			}
			m.high = unbounded
			free.Append(m)
		}
		amortise(free)
		for i := 1; i < free.Len(); i++ {
			a, b := free.At(i-1), free.At(i)
			if rise := b.shift - a.shift; rise > 1+(b.time-a.time)/slope {
				t.Fatalf("marks %d: the shift rises by %d from %+v to %+v", i, rise, a, b)
			}
			if a.shift < marks.At(i-1).shift {
				t.Fatalf("mark %d: %d without bounds, %d with", i-1, a.shift, marks.At(i-1).shift)
			}
		}
		marks.Release()
		free.Release()
	}
}

// TestKnots: a clock map with the knots gives every mark a shift within its bounds and
// next to its own, or exactly its own.
func TestKnots(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 10))
	marked, kept := 0, 0
	store := spill.NewStore(0, t.TempDir())
	defer store.Close()
	for range 200 {
		marks := randomMarks(store, r, 300)
		amortise(marks)
		base := func(int64) int64 { return 0 }
		for _, exact := range []bool{false, true} {
			all := bend(store, marks, fades[0], base)
			m := trace.ClockMap{Knots: makeKnots(store, all, exact)}
			if !exact {
				marked, kept = marked+all.Len(), kept+m.Knots.Len()
			}
			for i := range all.Len() {
				k := all.At(i)
				got := m.At(k.time) - k.time
				if exact && got != k.shift || got < k.low || got > k.high || max(got-k.shift, k.shift-got) > 1 {
					t.Fatalf("exact %t, mark %d: %d for %+v", exact, i, got, k)
				}
			}
		}
	}
	if kept > marked*3/4 {
		t.Errorf("%d knots for %d marks", kept, marked)
	}
	if k := makeKnots(store, tableOf(store, mark{time: 1}, mark{time: 2}, mark{time: 5}), false); k != nil {
		t.Errorf("%d knots without any shift", k.Len())
	}
}
