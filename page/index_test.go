package page

import (
	"context"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"testing"

	"tracekit/samples"
)

// readTile decodes the rows of a tile: begins and activities of runs, and the end of the last.
func readTile(t *testing.T, tile []byte, rows int, from int64) (starts [][]int64, activities [][]uint64) {
	t.Helper()
	unsigned := func() uint64 {
		v, n := binary.Uvarint(tile)
		if n <= 0 {
			t.Fatal("the tile ends early")
		}
		tile = tile[n:]
		return v
	}
	for range rows {
		unsigned() // the step
		v := unsigned()
		at := from - (int64(v>>1) ^ -int64(v&1))
		row, kinds := []int64{at}, []uint64{}
		for range unsigned() {
			at += int64(unsigned())
			row, kinds = append(row, at), append(kinds, unsigned())
		}
		starts, activities = append(starts, row), append(activities, kinds)
	}
	return starts, activities
}

// TestTiles: at full resolution, a tile of any stretch of time has the runs of the exact
// timeline that touch it; at any resolution it covers the stretch.
func TestTiles(t *testing.T) {
	for _, p := range samples.Programs() {
		tr, a := analyzed(t, samples.Options{Program: p.Name, Ranks: 5, Iterations: 300, Seed: 4, Plant: samples.Plant{LateSender: 9_000}})
		exact := timeline(t, tr, a, 1<<22)
		x, begin, err := NewIndex(context.Background(), tr, a, Limits{Runs: 1 << 22}, 2)
		if err != nil {
			t.Fatal(err)
		}
		for k, r := range begin.Rows {
			if n := exact.Rows[k].Runs.Len(); r.Runs.Len() != n {
				t.Errorf("%s: the index begins with %d runs in a row, the timeline has %d", p.Name, r.Runs.Len(), n)
			}
		}
		if _, coarse, err := NewIndex(context.Background(), tr, a, Limits{Runs: 2000}, 1); err != nil {
			t.Fatal(err)
		} else if n := coarse.Rows[0].Runs.Len(); n > 800 || coarse.Rows[0].StepNs == 1 {
			t.Errorf("%s: a page of 2,000 runs begins with %d runs of %d ns in a row", p.Name, n, coarse.Rows[0].StepNs)
		}
		r := rand.New(rand.NewPCG(7, 7))
		for range 200 {
			from := r.Int64N(exact.LengthNs)
			to := min(from+1+r.Int64N(exact.LengthNs>>r.IntN(16)+1), exact.LengthNs)
			steps := 1 + r.IntN(3000)
			tile, err := x.Tile(context.Background(), from, to, steps)
			if err != nil {
				t.Fatal(err)
			}
			starts, _ := readTile(t, tile, len(x.rows), from)
			for k, s := range starts {
				if s[0] > from || s[len(s)-1] < to {
					t.Fatalf("%s: row %d of %d to %d reaches from %d to %d", p.Name, k, from, to, s[0], s[len(s)-1])
				}
				if len(s)-1 > 2*steps && len(s)-1 > coarsest*growth {
					t.Fatalf("%s: %d runs for %d steps", p.Name, len(s)-1, steps)
				}
			}
			tile, err = x.Tile(context.Background(), from, to, 1<<30)
			if err != nil {
				t.Fatal(err)
			}
			starts, activities := readTile(t, tile, len(x.rows), from)
			for k, row := range exact.Rows {
				at, i := int64(0), 0
				for run := range row.Runs.All {
					end := at + run.Steps
					if end > from && at < to {
						if i >= len(activities[k]) || starts[k][i] != at || activities[k][i] != uint64(run.Activity) {
							t.Fatalf("%s: row %d of %d to %d, run %d is not that at %d", p.Name, k, from, to, i, at)
						}
						i++
					}
					at = end
				}
				if i != len(activities[k]) {
					t.Fatalf("%s: row %d has %d runs, want %d", p.Name, k, len(activities[k]), i)
				}
			}
		}
	}
}

// BenchmarkTile measures a tile of all rows at the width of a screen, by the length of the run.
func BenchmarkTile(b *testing.B) {
	for _, iterations := range []int{100, 1000, 10_000} {
		tr, a := analyzed(b, samples.Options{Program: "halo", Ranks: 16, Iterations: iterations, Seed: 4})
		x, _, err := NewIndex(context.Background(), tr, a, Bounds(DefaultSize), 1)
		if err != nil {
			b.Fatal(err)
		}
		for _, part := range []int64{1, 100} {
			b.Run(fmt.Sprintf("iterations=%d/part=%d", iterations, part), func(b *testing.B) {
				for b.Loop() {
					if _, err := x.Tile(context.Background(), 0, x.length/part, 1600); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
