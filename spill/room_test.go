package spill

import (
	"math/rand/v2"
	"testing"
)

// TestRoom: whatever is taken and left, no slot is given twice, and none is lost: when all are left, all extents are whole again.
func TestRoom(t *testing.T) {
	const extents = 40
	var r room
	r.add(make([]byte, extents*extentBytes))
	taken := map[slot]bool{0: true}
	take := func(at slot) {
		if taken[at] {
			t.Fatalf("slot %d is given twice", at)
		}
		taken[at] = true
	}
	random := rand.New(rand.NewPCG(1, 2))
	var list []slot
	for range 10_000 {
		switch n := random.IntN(4); {
		case n == 0 && len(r.whole) > 0:
			for i, at := slot(0), r.run(); i < extentFrames; i++ {
				take(at + i)
				list = append(list, at+i)
			}
		case n == 1 && r.vacant > 0:
			list = append(list, r.one())
			take(list[len(list)-1])
		case n > 1 && len(list) > 0:
			k := random.IntN(len(list))
			r.leave(list[k])
			delete(taken, list[k])
			list[k] = list[len(list)-1]
			list = list[:len(list)-1]
		}
		if len(taken)+r.vacant != extents*extentFrames {
			t.Fatalf("%d slots are taken and %d vacant of %d", len(taken), r.vacant, extents*extentFrames)
		}
	}
	for _, at := range list {
		r.leave(at)
	}
	if len(r.whole) != extents-1 || len(r.broken) > extents {
		t.Errorf("%d extents are whole, want all but that of slot 0; %d are listed as broken", len(r.whole), len(r.broken))
	}
}

// TestChange: what is changed in pages that come to be changed is what is read later.
func TestChange(t *testing.T) {
	store := NewStore(0, t.TempDir())
	defer store.Close()
	table := NewTable[tableRow](store)
	var want []tableRow
	for i := range 30_000 {
		table.Append(rowOf(i))
		want = append(want, rowOf(i))
	}
	table = table.Sealed()
	for _, on := range []bool{true, false} {
		table.Change(on)
		for i := 0; i < len(want); i += 3 {
			table.Ptr(i).B++
			want[i].B++
		}
		checkTable(t, table, want)
	}
}
