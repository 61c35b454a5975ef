package topology_test

import (
	"fmt"
	"strings"
	"testing"

	"tracekit/merge"
	"tracekit/readers"
	"tracekit/samples"
	"tracekit/stats/statstest"
	"tracekit/topology"
	"tracekit/trace"
	"tracekit/trace/tracetest"
)

func TestGrid(t *testing.T) {
	g, err := topology.Grid([]int{2, 3}, 6)
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(g.Coordinates(0), g.Coordinates(2), g.Coordinates(4), g.Coordinates(6)); got != "[0 0] [0 2] [1 1] []" {
		t.Error(got)
	}
	for _, sizes := range [][]int{nil, {0}, {5}, {-2, -3}, {1 << 13, 1 << 13}} {
		if _, err := topology.Grid(sizes, 6); err == nil {
			t.Errorf("%v: no error", sizes)
		}
	}
}

// TestHops states distances with and without wrap-around, which are those of a metric.
func TestHops(t *testing.T) {
	g, err := topology.Grid([]int{4, 5}, 20)
	if err != nil {
		t.Fatal(err)
	}
	mesh, torus := g.Wrapped(false), g.Wrapped(true)
	for _, c := range []struct {
		a, b               uint32
		onMesh, aroundEdge int
	}{{0, 0, 0, 0}, {0, 4, 4, 1}, {0, 15, 3, 1}, {0, 19, 7, 2}, {0, 12, 4, 4}, {0, 20, -1, -1}} {
		if m, w := mesh.Hops(c.a, c.b), torus.Hops(c.a, c.b); m != c.onMesh || w != c.aroundEdge {
			t.Errorf("%d to %d: %d and %d hops, want %d and %d", c.a, c.b, m, w, c.onMesh, c.aroundEdge)
		}
	}
	for a := range uint32(20) {
		for b := range uint32(20) {
			if torus.Hops(a, b) != torus.Hops(b, a) || torus.Hops(a, b) > mesh.Hops(a, b) {
				t.Errorf("%d and %d: %d there, %d back, %d on a mesh", a, b, torus.Hops(a, b), torus.Hops(b, a), mesh.Hops(a, b))
			}
		}
	}
}

func TestRead(t *testing.T) {
	top, err := topology.Read(strings.NewReader("# a machine\ndims 2 4 # X Y\ntorus 0 1\n0: 0 0\n1: 1 3\n"), "machine.txt", 3)
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(top.Dimensions(), top.Coordinates(1), top.Coordinates(2), top.Hops(0, 1),
		top.Hops(0, 2)); got != "[2 4] [1 3] [] 2 -1" {
		t.Error(got)
	}
	for text, want := range map[string]string{
		"":                      "m: no line says the sizes",
		"0: 1 2":                "m:1: want dims",
		"dims 2 2\ndims 2 2":    "m:2: want dims once",
		"dims 2 0":              "m:1: want dims once",
		"dims 2 2\n0: 1":        "m:2: 1 numbers for 2 dimensions",
		"dims 2 2\n0: 1 2":      "m:2: rank 0 is at 2 of 2",
		"dims 2 2\n3: 1 1":      "m:2: the trace has no rank 3",
		"dims 2 2\nx: 1 1":      `m:2: "x": want dims, torus, or a rank`,
		"dims 2 2\n0: 1 -1":     `m:2: "-1": want a number`,
		"dims 99999999999999 1": "want a number",
	} {
		if _, err := topology.Read(strings.NewReader(text), "m", 3); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

func TestBlock(t *testing.T) {
	g, err := topology.Grid([]int{3, 4}, 12)
	if err != nil {
		t.Fatal(err)
	}
	m := &trace.Trace{World: make([]trace.LocationID, 12)}
	for text, want := range map[string]string{"0,0": "[0]", "0-1,1-2": "[1 2 5 6]", "*,3": "[3 7 11]", "2,*": "[8 9 10 11]"} {
		b, err := topology.ParseBlock(text, g)
		if err != nil {
			t.Fatal(err)
		}
		keep, err := b.Ranks(t.Context(), m, 1)
		var ranks []int
		for r, k := range keep {
			if k {
				ranks = append(ranks, r)
			}
		}
		if fmt.Sprint(ranks) != want || err != nil {
			t.Errorf("%s: %v, %v, want %s", text, ranks, err, want)
		}
	}
	for _, text := range []string{"", "0", "0,0,0", "3,0", "2-1,0", "a,0", "0,1-", "-1,0"} {
		if _, err := topology.ParseBlock(text, g); err == nil {
			t.Errorf("block %q: no error", text)
		}
	}
}

// TestAverages states the averages of a ring, whose messages all go to the next rank.
func TestAverages(t *testing.T) {
	m := statstest.Generated(t, samples.Options{Program: "ring", Ranks: 6, Iterations: 5})
	reconciled := statstest.Merged(t, m, merge.Options{})
	for _, c := range []struct {
		top         *topology.Topology
		mesh, torus []float64
	}{
		{topology.Row(6), []float64{1, 1, 1, 1, 1, 5}, []float64{1, 1, 1, 1, 1, 1}},
		{must(topology.Grid([]int{2, 3}, 6)), []float64{1, 1, 3, 1, 1, 3}, []float64{1, 1, 2, 1, 1, 2}},
	} {
		got, err := topology.Averages(t.Context(), reconciled, c.top, 2)
		if err != nil {
			t.Fatal(err)
		}
		for r, a := range got {
			if *a.Average != c.mesh[r] || *a.Torus != c.torus[r] || a.Bytes != 5*1024 || a.Unknown != 0 {
				t.Errorf("%s: rank %d has %v and %v over %d bytes, want %v and %v", c.top, r, *a.Average, *a.Torus, a.Bytes, c.mesh[r],
					c.torus[r])
			}
		}
	}
}

func must(t *topology.Topology, err error) *topology.Topology {
	if err != nil {
		panic(err)
	}
	return t
}

// TestOfTrace reads the topology that Score-P has written of two processes.
func TestOfTrace(t *testing.T) {
	src, err := readers.Open(t.Context(), tracetest.Shared(t, "otf2", "pipit-pingpong"), readers.OpenOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	if top := topology.OfTrace(src.Defs(), ""); top != nil {
		t.Errorf("the numbering of processes and threads is taken for a grid: %s", top)
	}
	top := topology.OfTrace(src.Defs(), "Process x Thread")
	if top == nil {
		t.Fatal("no topology")
	}
	if got := fmt.Sprint(top.Dimensions(), top.Coordinates(0), top.Coordinates(1), top.Hops(0, 1)); got != "[2 1] [0 0] [1 0] 1" {
		t.Error(got)
	}
}

func FuzzRead(f *testing.F) {
	f.Add("dims 2 4\ntorus 0 1\n0: 0 0\n1: 1 3\n")
	f.Fuzz(func(t *testing.T, text string) {
		top, err := topology.Read(strings.NewReader(text), "m", 3)
		if err != nil {
			return
		}
		for a := range uint32(4) {
			for b := range uint32(4) {
				if h := top.Hops(a, b); h < -1 || h != top.Hops(b, a) {
					t.Errorf("%d hops from %d to %d", h, a, b)
				}
			}
		}
	})
}
