package page

import (
	"fmt"
	"path/filepath"
	"slices"
	"testing"

	"tracekit/merge"
	"tracekit/readers"
	"tracekit/report"
	"tracekit/stats/analysis"
	"tracekit/stats/statstest"
	"tracekit/trace"
)

// TestMoreFits: whatever there is, the block has no more bytes than it may.
func TestMoreFits(t *testing.T) {
	m := &More{}
	for i := range 500 {
		l := lineCalls{Operation: fmt.Sprint("MPI_Call", i*7919%1000)}
		for k := range 6 {
			x := keyBars{Bytes: uint64(i * k)}
			for b := range 48 {
				x.Counts = append(x.Counts, uint64(i*b*k*2654435761%1000003))
			}
			l.Keys = append(l.Keys, x)
		}
		m.lines = append(m.lines, l)
	}
	for i := range 2000 {
		m.tables.Kernels = append(m.tables.Kernels, report.Kernel{From: fmt.Sprint(i * 7919 % 1000003)})
	}
	for _, limit := range []int64{1 << 20, 100_000, 10_000, 1000} {
		packed, err := m.pack(newPacker(t.Context()), limit)
		if err != nil || int64(len(packed)) > limit {
			t.Errorf("%d bytes, want at most %d; %v", len(packed), limit, err)
		}
	}
}

// TestGridsOfATrace: the grid of MPI_Cart_create is drawn with the places that it gave the ranks.
func TestGridsOfATrace(t *testing.T) {
	src, err := readers.Open(t.Context(), filepath.Join("..", "samples", "archives", "torus-6"), readers.OpenOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	tr, a := statstest.Analyzed(t, src, merge.Options{}, analysis.Options{})
	got := gridsOf(tr, a)
	want := [][]int{{0, 0, 0}, {1, 0, 1}, {2, 1, 0}, {3, 1, 1}, {4, 2, 0}, {5, 2, 1}}
	if len(got) != 1 || !slices.Equal(got[0].Sizes, []int{3, 2}) || !slices.EqualFunc(got[0].At, want, slices.Equal[[]int]) {
		t.Fatalf("%+v", got)
	}
	for _, name := range analysis.RankMetrics() {
		values := got[0].Metrics[name]
		if len(values) != 6 || slices.Contains(values, nil) {
			t.Errorf("%s of ranks: %v", name, values)
		}
		if name == analysis.Hops && *values[5] != 1 { // all send to neighbours on the torus
			t.Errorf("rank 5 sends bytes %f hops far", *values[5])
		}
	}
}

// TestGrids: a topology is drawn with the place of each rank, Score-P's numbering is not.
func TestGrids(t *testing.T) {
	d := &trace.Defs{Strings: []string{"", "rank"}}
	d.LocationGroups = make([]trace.LocationGroup, 4)
	tr := &trace.Trace{Defs: d}
	top := trace.Topology{Name: "cart", Sizes: []uint32{2, 2}, Torus: []bool{false, false}}
	for i := range 4 {
		d.Locations = append(d.Locations, trace.Location{Group: trace.LocationGroupID(i)})
		tr.World = append(tr.World, trace.LocationID(i))
		tr.Rank = append(tr.Rank, uint32(i))
		top.Places = append(top.Places, trace.Coordinate{Location: trace.LocationID(i), At: []uint32{uint32(i % 2), uint32(i / 2)}})
	}
	other := top
	other.Name = "Process x Thread"
	huge := trace.Topology{Name: "huge", Sizes: []uint32{1 << 31, 1 << 31}, Torus: []bool{false, false}, Places: top.Places}
	d.Topologies = []trace.Topology{other, huge, top}
	got := gridsOf(tr, &analysis.Result{})
	if len(got) != 1 || got[0].Name != "cart" || !slices.Equal(got[0].Sizes, []int{2, 2}) || !slices.Equal(got[0].At[1], []int{1, 1, 0}) {
		t.Errorf("%+v", got)
	}
}
