package diagram

import (
	"fmt"
	"strings"
	"testing"

	"tracekit/merge"
	"tracekit/samples"
	"tracekit/stats/scope"
	"tracekit/stats/statstest"
	"tracekit/trace/tracetest"
)

// TestCrop states that startup and end are left out unless they are small or asked for.
func TestCrop(t *testing.T) {
	const run = `
location 0 r0 rank=0
  0 Enter MPI_Init ; 40 Leave MPI_Init ; 50 Enter f ; 80 Leave f ; 90 Enter MPI_Finalize ; 100 Leave MPI_Finalize
location 1 r1 rank=1
  0 Enter MPI_Init ; 30 Leave MPI_Init ; 30 Enter f ; 80 Leave f ; 85 Enter MPI_Finalize ; 100 Leave MPI_Finalize
`
	tr := statstest.Merged(t, tracetest.MustParseSplit(t, run), merge.Options{Clock: merge.ClockNone})
	for _, c := range []struct {
		options  Options
		from, to int64
		note     string
	}{
		{Options{}, 30, 90, "30 ns to 90 ns of 100 ns, without 40 ns of startup and end; 2 ranks; clock as recorded"},
		{Options{Whole: true}, 0, 100, "0 to 100 ns of 100 ns; 2 ranks"},
		{Options{From: scope.Instant{Kind: scope.AfterNs, Ns: 10}}, 10, 90, "without 10 ns"},
		{Options{Ranks: []uint32{0}}, 40, 90, "1 of 2 ranks"},
	} {
		d, err := newDiagram(t.Context(), tr, waitsOf(t, tr), c.options)
		if err != nil {
			t.Fatal(err)
		}
		from, to, cut := d.crop([]uint32{0, 1}[:max(1, 2-len(c.options.Ranks))], 100)
		if from != c.from || to != c.to {
			t.Errorf("%+v: drawn from %d to %d, want %d to %d", c.options, from, to, c.from, c.to)
		}
		ranks, _ := d.choose()
		if note := d.subtitle(ranks, from, to, 100, cut); !strings.Contains(note, c.note) {
			t.Errorf("%+v: the title says %q, want %q", c.options, note, c.note)
		}
	}
}

// TestFolded states that the locations of a process share one row where rows are crowded.
func TestFolded(t *testing.T) {
	tr := statstest.Merged(t, statstest.Generated(t, samples.Options{Program: "ring", Ranks: 8, Iterations: 3, Threads: 3}),
		merge.Options{Clock: merge.ClockAuto})
	for _, c := range []struct {
		height, rows int
		folded       bool
	}{{0, 24, false}, {170, 8, true}} {
		d, err := newDiagram(t.Context(), tr, waitsOf(t, tr), Options{Rows: Threads, Height: c.height, ColorBy: ByRegion})
		if err != nil {
			t.Fatal(err)
		}
		last := 0
		for _, row := range d.bars {
			last = max(last, row)
		}
		if last+1 != c.rows || d.folded != c.folded {
			t.Errorf("%d pixels: %d rows, folded %v; want %d, %v", c.height, last+1, d.folded, c.rows, c.folded)
		}
		picture(t, tr, Options{Rows: Threads, Height: c.height, ColorBy: ByRegion})
	}
}

// TestFoldedDevices: where rows are crowded, the streams of a process share a row, but not with the process.
func TestFoldedDevices(t *testing.T) {
	const ranks = 30
	var text strings.Builder
	for r := range ranks {
		fmt.Fprintf(&text, "process %d rank%d\nlocation %d master process=%d kind=1\n  0 Enter main ; 90 Leave main\n", r, r, 3*r, r)
		for s := range 2 {
			fmt.Fprintf(&text, "location %d stream%d process=%d kind=2\n  10 Enter sgemm ; 40 Leave sgemm\n", 3*r+1+s, s, r)
		}
	}
	tr := statstest.Merged(t, tracetest.MustParseSplit(t, text.String()), merge.Options{Clock: merge.ClockNone})
	for _, c := range []struct {
		height, rows int
		note         string
	}{{0, 3 * ranks, "30 ranks; clock"}, {300, 2 * ranks, "streams folded to one row a process"}} {
		d, err := newDiagram(t.Context(), tr, waitsOf(t, tr), Options{Height: c.height, ColorBy: ByRegion})
		if err != nil {
			t.Fatal(err)
		}
		inRow := map[int]int{}
		for l, row := range d.bars {
			inRow[row]++
			if host := l%3 == 0; host && inRow[row] != 1 {
				t.Errorf("%d pixels: the process of location %d shares its row", c.height, l)
			}
		}
		if len(inRow) != c.rows {
			t.Errorf("%d pixels: %d rows, want %d", c.height, len(inRow), c.rows)
		}
		chosen, _ := d.choose()
		if note := d.subtitle(chosen, 0, 90, 90, 0); !strings.Contains(note, c.note) {
			t.Errorf("%d pixels: the title says %q, want %q", c.height, note, c.note)
		}
		picture(t, tr, Options{Height: c.height, ColorBy: ByRegion})
	}
}
