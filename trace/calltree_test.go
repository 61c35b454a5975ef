package trace_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"tracekit/trace"
	"tracekit/trace/tracetest"
)

func TestCallTree(t *testing.T) {
	tree := trace.NewCallTree()
	main := tree.Add(trace.PathNode{Parent: trace.None, Region: 0, Site: trace.None})
	send := tree.Add(trace.PathNode{Parent: main, Region: 1, Site: trace.None})
	atLine := tree.Add(trace.PathNode{Parent: main, Region: 1, Site: 4})
	if send == atLine {
		t.Error("two call sites have one node")
	}
	if again := tree.Add(trace.PathNode{Parent: main, Region: 1, Site: trace.None}); again != send {
		t.Errorf("the same step is node %d and %d", send, again)
	}
	if got := tree.Find(trace.PathNode{Parent: send, Region: 1, Site: trace.None}); got != trace.None {
		t.Errorf("found %d", got)
	}
	if got := tree.Regions(atLine); !slices.Equal(got, []trace.RegionID{0, 1}) {
		t.Errorf("Regions = %v", got)
	}
}

func TestCallTreeMerge(t *testing.T) {
	a, b := trace.NewCallTree(), trace.NewCallTree()
	a.Add(trace.PathNode{Parent: trace.None, Region: 5, Site: trace.None})
	root := b.Add(trace.PathNode{Parent: trace.None, Region: 7, Site: trace.None})
	b.Add(trace.PathNode{Parent: root, Region: 5, Site: trace.None})
	b.Add(trace.PathNode{Parent: trace.None, Region: 5, Site: trace.None})
	ids := a.Merge(b)
	if !slices.Equal(ids, []trace.PathID{1, 2, 0}) {
		t.Errorf("ids = %v", ids)
	}
	for i, id := range ids {
		if !slices.Equal(a.Regions(id), b.Regions(trace.PathID(i))) {
			t.Errorf("path %d becomes %v, was %v", i, a.Regions(id), b.Regions(trace.PathID(i)))
		}
	}
}

func TestSourceLine(t *testing.T) {
	m := tracetest.MustParse(t, `
region main file=main.c line=3
region MPI_Send
region nofile
site file=call.c line=12
location 0
`)
	d := m.Definitions
	tree := trace.NewCallTree()
	main := tree.Add(trace.PathNode{Parent: trace.None, Region: 0, Site: trace.None})
	inner := tree.Add(trace.PathNode{Parent: main, Region: 2, Site: trace.None})
	for _, c := range []struct {
		name string
		node trace.PathNode
		want trace.SourceLine
		file string
	}{
		{"by region", trace.PathNode{main, 1, trace.None}, trace.SourceLine{Region: 0, Line: 3}, "main.c"},
		{"by call site", trace.PathNode{main, 1, 0}, trace.SourceLine{Region: 0, Line: 12}, "call.c"},
		{"alone", trace.PathNode{trace.None, 1, trace.None}, trace.SourceLine{Region: trace.None}, ""},
		{"region without file", trace.PathNode{inner, 1, trace.None}, trace.SourceLine{Region: 2}, ""},
		{"user's region", trace.PathNode{trace.None, 0, trace.None}, trace.SourceLine{Region: 0, Line: 3}, "main.c"},
	} {
		got := tree.SourceLine(d, tree.Add(c.node))
		if got.Region != c.want.Region || got.Line != c.want.Line || d.String(got.File) != c.file {
			t.Errorf("%s: %+v in %q", c.name, got, d.String(got.File))
		}
	}
}

// TestPathCache: whatever has been told is known until something else takes its place, nothing else
// is, the node of zeros neither.
func TestPathCache(t *testing.T) {
	var c trace.PathCache
	r := rand.New(rand.NewPCG(1, 2))
	told := make(map[trace.PathNode]uint32)
	known := 0
	for i := range uint32(20_000) {
		n := trace.PathNode{Parent: trace.PathID(r.IntN(30)), Region: trace.RegionID(r.IntN(3)), Site: trace.SourceLocationID(r.IntN(3))}
		number, ok := c.Lookup(n)
		if want, met := told[n]; ok && (!met || number != want) {
			t.Fatalf("step %d: %v is %d, want %d, %t", i, n, number, want, met)
		}
		if ok {
			known++
			continue
		}
		c.Remember(n, i)
		told[n] = i
	}
	if known < 10_000 {
		t.Errorf("%d of 20000 were known", known)
	}
}
