package perfetto

import (
	"math"
	"math/rand/v2"
	"testing"
)

// A time is that of the nearest snapshot before it, whatever order the snapshots came in; one before all goes by the first.
func TestConversion(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	for range 50 {
		c, own, axis := newClocks(), []int64{}, make(map[int64]int64)
		for range 1 + r.IntN(disorder) {
			at := r.Int64N(1 << 40)
			if _, known := axis[at]; known {
				continue
			}
			own, axis[at] = append(own, at), r.Int64N(1<<40)
			if !c.snapshot(append(message(1, message(1, clockBoottime, 2, int(axis[at]))), message(1, message(1, 70, 2, int(at)))...), 5) {
				t.Fatal("a snapshot is refused")
			}
		}
		for range 50 {
			at := r.Int64N(1 << 41)
			before, first := int64(-1), int64(math.MaxInt64)
			for _, o := range own {
				if first = min(first, o); o <= at {
					before = max(before, o)
				}
			}
			if before < 0 {
				before = first
			}
			if got, ok := c.time(uint64(at), 70, 5); !ok || got != axis[before]+at-before {
				t.Fatalf("%d is %d (%v), want %d", at, got, ok, axis[before]+at-before)
			}
			if got, ok := c.time(uint64(at), 0, 5); !ok || got != at {
				t.Fatalf("%d on the axis is %d (%v)", at, got, ok)
			}
		}
		for _, id := range []uint64{71, clockMonotonic} {
			if _, ok := c.time(1, id, 5); ok {
				t.Errorf("clock %d, of no snapshot, has a time", id)
			}
		}
		if _, ok := c.time(1, 70, 6); ok {
			t.Error("a clock of a sequence is that of another one")
		}
	}
}

// Times that no trace has are refused, and none overflows.
func TestTimesBeyondAll(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		raw, unit uint64
		ok        bool
	}{{0, 1, true}, {farthest - 1, 1, true}, {farthest, 1, false}, {math.MaxUint64, 1, false}, {farthest / 1000, 1000, true},
		{1 << 40, 1 << 40, false}, {math.MaxUint64, math.MaxUint64, false}, {0, math.MaxUint64, true}} {
		if got, ok := nanoseconds(c.raw, c.unit); ok != c.ok || ok && uint64(got) != c.raw*c.unit {
			t.Errorf("%d units of %d ns are %d (%v)", c.raw, c.unit, got, ok)
		}
	}
	far := &clock{pairs: []pair{{0, farthest - 10}}}
	for time, ok := range map[int64]bool{0: true, 9: true, 10: false, farthest - 1: false, -farthest + 1: true} {
		if got, can := far.convert(time); can != ok {
			t.Errorf("%d becomes %d (%v)", time, got, can)
		}
	}
}

// A table gives back what was put under each identifier, small or not, and nothing once it is cleared.
func TestTableOfNames(t *testing.T) {
	t.Parallel()
	var names table
	ids := []uint64{1, 7, 3, denseLimit - 1, denseLimit, math.MaxUint64, 0}
	for round := range 2 {
		for _, id := range append(ids, 2, denseLimit+1) {
			if names.get(id) != nil {
				t.Errorf("round %d: identifier %d stands for something", round, id)
			}
		}
		for i, id := range ids {
			*names.put(id) = interned{text: uint32(i), set: true}
			*names.put(id) = interned{text: uint32(i + round), set: true} // the last one counts
		}
		for i, id := range ids {
			if e := names.get(id); e == nil || e.text != uint32(i+round) {
				t.Errorf("round %d: identifier %d is %+v", round, id, e)
			}
		}
		if e := names.get(2); e != nil {
			t.Errorf("an identifier between others is %+v", e)
		}
		names.clear()
	}
}
