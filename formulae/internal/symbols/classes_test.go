package symbols

import (
	"math/rand/v2"
	"slices"
	"testing"

	"tracekit/formulae/internal/coder"
	"tracekit/formulae/internal/pack"
	"tracekit/trace"
)

// Numbers by position are the most frequent one and the exceptions to it, and each position has its own again.
func TestGroups(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		numbers := make([]uint32, 1+r.IntN(100))
		count := make(map[uint32]int)
		for i := range numbers {
			numbers[i] = r.Uint32N(1 + r.Uint32N(5))
			count[numbers[i]]++
		}
		g := group(numbers)
		for i, want := range numbers {
			if got := g.of(uint64(i)); got != want {
				t.Fatalf("%v: position %d has %d", numbers, i, got)
			}
		}
		for n, times := range count {
			if times > count[g.rest] {
				t.Errorf("%v: the rest is %d, which is less frequent than %d", numbers, g.rest, n)
			}
		}
		if len(g.others) != len(count)-1 {
			t.Errorf("%v: %d exceptions to %d numbers", numbers, len(g.others), len(count))
		}
	}
}

// Whatever the classes of locations are, and whatever their symbols mean on each, that is what is read.
func TestClassesComeBack(t *testing.T) {
	t.Parallel()
	form, r := pack.Form{Tables: coder.NewTables()}, rand.New(rand.NewPCG(3, 4))
	for range 100 {
		locations := r.IntN(60)
		list := make([]Class, 1+r.IntN(4))
		for l := range locations {
			i := (l + r.IntN(2)) % len(list)
			list[i].Members = append(list[i].Members, trace.LocationID(l))
		}
		list = slices.DeleteFunc(list, func(c Class) bool { return len(c.Members) == 0 })
		var want [][]uint32 // of each class, symbol by symbol
		for i := range list {
			for range r.IntN(6) {
				numbers := make([]uint32, len(list[i].Members))
				for k := range numbers {
					numbers[k] = r.Uint32N(3)
				}
				list[i].symbols = append(list[i].symbols, group(numbers))
				want = append(want, numbers)
			}
		}
		c := pack.NewColumns(form)
		codeClasses(c, list, locations)
		in := pack.OpenColumns(form, c.Finish())
		got := codeClasses(in, nil, locations)
		if in.Damaged || len(got) != len(list) {
			t.Fatalf("%d classes come back as %d (damaged: %v)", len(list), len(got), in.Damaged)
		}
		for i := range got {
			if !slices.Equal(got[i].Members, list[i].Members) || len(got[i].symbols) != len(list[i].symbols) {
				t.Fatalf("class %d of %v comes back as one of %v", i, list[i].Members, got[i].Members)
			}
			for k := range got[i].symbols {
				for position, number := range want[0] {
					if got[i].symbols[k].of(uint64(position)) != number {
						t.Fatalf("class %d, symbol %d means something else at position %d", i, k, position)
					}
				}
				want = want[1:]
			}
		}
	}
}

// What is open and what was closed are remembered up to a number; then the oldest ones are forgotten, on both sides alike.
func TestRequestsAreForgotten(t *testing.T) {
	t.Parallel()
	var writer, reader requests
	says := func(role requestRole, id uint64, want requestCode, number uint64) {
		t.Helper()
		how, v := writer.encode(role, id)
		if how != want || v != number {
			t.Errorf("request %d is named %d %d, want %d %d", id, how, v, want, number)
		}
		if got, ok := reader.decode(how, v); how != requestLiteral && (!ok || got != id) {
			t.Errorf("request %d is read as %d (%v)", id, got, ok)
		}
		writer.update(role, id)
		reader.update(role, id)
	}
	says(roleStarts, 7, requestNext, 14)
	says(roleStarts, 8, requestNext, 2)
	says(roleStarts, 1<<40, requestLiteral, 0) // no counter counts so
	says(roleStarts, 1<<40+1, requestNext, 2)
	says(roleNames, 8, requestOpen, 1)
	says(roleNames, 8, requestOpen, 1) // to name one changes nothing
	says(roleCompletes, 8, requestOpen, 1)
	says(roleCompletes, 7, requestOpen, 0)
	says(roleStarts, 8, requestReused, 1) // the last but one that was closed
	says(roleCompletes, 99, requestLiteral, 0)
	says(roleCompletes, 0, requestNone, 0)
	says(roleNames, 0, requestNone, 0)
	writer, reader = requests{}, requests{}
	for id := range uint64(maxOpen + 1) {
		says(roleStarts, id+1, requestNext, 2)
	}
	says(roleCompletes, maxOpen/2, requestLiteral, 0)
	says(roleCompletes, maxOpen/2+1, requestOpen, 0)
	for id := range uint64(maxClosed) {
		says(roleCompletes, maxOpen/2+2+id, requestOpen, 0)
	}
	says(roleStarts, maxOpen/2+1, requestNext, maxOpen-1) // back from the newest one: that it was closed is forgotten
	for how := range requestCode(200) {
		if id, ok := reader.decode(how, 1<<40); ok && how != requestNone && how != requestNext {
			t.Errorf("name %d of what there is not is read as request %d", how, id)
		}
	}
}

// A set that is read may be any; what it holds is told in bounded time, and a step of nothing leads nowhere.
func TestSetsOfNoGrid(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		set  stridedSet
		want []uint64
	}{
		{stridedSet{start: 3}, []uint64{3}},
		{stridedSet{start: 3, dims: []stride{{0, 5}}}, nil},
		{stridedSet{start: 3, dims: []stride{{2, 1}}}, []uint64{3}},
		{stridedSet{start: 1, dims: []stride{{1 << 63, 2}, {2, 3}}}, []uint64{1, 3, 5}},
		{stridedSet{start: 0, dims: []stride{{6, 1 << 62}}}, []uint64{0, 6}},
		{stridedSet{start: 1 << 63}, nil},
	} {
		for v := range uint64(9) {
			if got := c.set.has(v); got != slices.Contains(c.want, v) {
				t.Errorf("%d is in %+v: %v", v, c.set, got)
			}
		}
	}
}
