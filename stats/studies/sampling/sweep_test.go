package sampling

import (
	"context"
	"testing"

	"tracekit/samples"
	"tracekit/stats/measurement"
)

// TestSweepHolds: on programs like those of NPB the intervals of a sweep hold the truth as often as they promise, and errors are what
// theory says: less of them the more is sampled, none if all is.
func TestSweepHolds(t *testing.T) {
	for _, program := range []string{"halo", "multigrid", "sweep"} {
		tr := generated(t, samples.Options{Program: program, Ranks: 8, Iterations: 40, Seed: 3})
		var grid []Config
		for _, c := range SweepGrid(Stat, 0.5) {
			if c.Strategy != Counter && (c.Threshold == 0 || c.Threshold >= 0.05) {
				grid = append(grid, c)
			}
		}
		s, err := MakeSweep(t.Context(), tr, grid, Options{Cost: measurement.Photon()}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if s.Seeds != mostSeeds {
			t.Fatalf("%s: %d seeds", program, s.Seeds)
		}
		var given, held [4]int
		last := -1.0
		for _, row := range s.Rows {
			if row.Share == 0 {
				if row.Latency.Within != nil || row.Latency.Given != 0 || row.Unexpected != nil {
					t.Errorf("%s: %+v", program, row)
				}
				continue
			}
			if row.Share == 1 && (*row.Messages.Within != 0 || *row.Counted.Within != 0 || *row.Unexpected != *s.Unexpected) {
				t.Errorf("%s: sampling all is no truth: %+v", program, row)
			}
			if last >= 0 && row.Share < 1 && *row.Messages.Within > last {
				t.Errorf("%s: %s is wrong by %g, less is by %g", program, row.Configuration, *row.Messages.Within, last)
			}
			last = *row.Messages.Within
			if row.Share < 1 {
				for i, e := range []*SweptError{&row.Messages, &row.Bytes, &row.Latency, row.Counted} {
					given[i], held[i] = given[i]+e.Given, held[i]+e.Held
				}
			}
		}
		for i := range given {
			if share := float64(held[i]) / float64(given[i]); share < 0.93 || share > 0.97 {
				t.Errorf("%s: of estimate %d, %d of %d intervals hold the truth", program, i, held[i], given[i])
			}
		}
	}
}

// TestSweepReplays: what nothing costs takes no time, and more of it takes longer.
func TestSweepReplays(t *testing.T) {
	tr := generated(t, samples.Options{Program: "ring", Ranks: 4, Iterations: 100, Seed: 1})
	s, err := MakeSweep(t.Context(), tr, SweepGrid(Stat, 0), Options{Cost: measurement.Photon()},
		func(_ context.Context, loads measurement.Loads) (ns int64, err error) {
			for l := range loads {
				ns = max(ns, total(loads[l].Before)+total(loads[l].Own))
			}
			return ns, nil
		})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]int64{"ORIG": 0, "NOPROF": 0, "P-0-OFF": 100 * 5700, "P-1-STAT": 100 * 21_700, "C-1-STAT": 100*3000 + 50*16_000}
	for _, row := range s.Rows {
		if ns, ok := want[row.Configuration]; ok && *row.RunTime != ns {
			t.Errorf("%s costs %d, want %d", row.Configuration, *row.RunTime, ns)
		}
	}
}
