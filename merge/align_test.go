package merge_test

import (
	"context"
	"path/filepath"
	"slices"
	"testing"

	"tracekit/merge"
	"tracekit/readers"
	"tracekit/samples"
	"tracekit/trace"
)

// profiled generates the profiles of a training job and opens them.
func profiled(t testing.TB, o samples.TrainingOptions) (*samples.TrainingTruth, trace.Source) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "job")
	truth, err := samples.WriteProfiles(context.Background(), o, dir)
	if err != nil {
		t.Fatal(err)
	}
	src, err := readers.Open(context.Background(), dir, readers.OpenOptions{Jobs: 1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { src.Close() })
	return truth, src
}

// TestClocksOfHosts states that offsets of generated hosts are found within twice the jitter of collectives, at the begin and at the end
// of the run, with any drift; that the bound says so; and that clocks are aligned unasked where files contradict each other.
func TestClocksOfHosts(t *testing.T) {
	for seed := range uint64(60) {
		o := samples.TrainingOptions{DP: 2 + int(seed%3), PP: 1 + int(seed%2)*2, TP: 1, MicroBatches: 4, Steps: 8, Seed: seed, Noise: 0.05,
			Skew: 50_000_000, Jitter: 2000 + int64(seed)*500}
		if seed%2 == 0 {
			o.Drift = 100
		}
		truth, src := profiled(t, o)
		tr, err := merge.Merge(context.Background(), src, merge.Options{Jobs: 1, Together: seed%3 == 0})
		if err != nil {
			t.Fatal(err)
		}
		a := tr.Clock.Alignment
		if a == nil || a.Clocks != len(truth.Clock) || a.Unlinked != 0 {
			t.Fatalf("seed %d: alignment %+v of %d clocks", seed, a, len(truth.Clock))
		}
		if a.Left >= tr.Clock.Messages.Raw+tr.Clock.Collectives.Raw {
			t.Errorf("seed %d: %d violations as recorded, %d when aligned", seed, tr.Clock.Messages.Raw+tr.Clock.Collectives.Raw, a.Left)
		}
		for rank, master := range tr.World {
			for _, at := range []int64{tr.Span[master].First, tr.Span[master].Last} {
				// The true time of each clock at this time of its own, and what the maps make of it.
				own := trueTime(truth.Clock[rank], at)
				reference := trueTime(truth.Clock[0], trace.CorrectOffset(tr.Clock.Maps[master].Offsets, at))
				if off := own - reference; max(off, -off) > 2*o.Jitter {
					t.Errorf("seed %d: rank %d is %d off, jitter %d", seed, rank, off, o.Jitter)
				}
				if off := own - reference; max(off, -off) > tr.Clock.Alignment.Bounds[master] {
					t.Errorf("seed %d: rank %d is %d off, bound %d", seed, rank, off, tr.Clock.Alignment.Bounds[master])
				}
			}
		}
	}
}

const epoch = 1_750_000_000_000_000_000

// trueTime returns when the clock of a generated host shows a time.
func trueTime(c samples.ProcessClock, at int64) int64 {
	const start = 1_000_000_000
	drift := float64(c.Drift) / 1e6
	return int64((float64(at-epoch-c.Skew) + start*drift) / (1 + drift))
}

// ownClocks is a source whose files, one for each process, have clocks of their own.
type ownClocks struct{ trace.Source }

func (s ownClocks) Info() trace.Info {
	info := s.Source.Info()
	info.Properties = map[string]string{trace.PropertyFileClocks: "true"}
	return info
}

// TestClocksOfTables states that clocks of a job that a table lists, or several, are found by the operations of its steps: as asked for, or
// unasked if they contradict each other.
func TestClocksOfTables(t *testing.T) {
	for seed := range uint64(20) {
		o := samples.TrainingOptions{DP: 2 + int(seed%3), PP: 1 + int(seed%3), MicroBatches: 4, Steps: 8, Seed: seed, Noise: 0.05,
			Skew: 50_000_000}
		if seed%2 == 0 {
			o.Drift = 100
		}
		var sink *samples.Memory
		truth, err := samples.GenerateTraining(context.Background(), o, func(info trace.Info, defs *trace.Defs) (trace.Sink, error) {
			sink = samples.NewMemory(info, defs)
			return sink, nil
		})
		if err != nil {
			t.Fatal(err)
		}
		together := seed%3 == 0
		for _, src := range []trace.Source{sink, ownClocks{sink}} {
			tr, err := merge.Merge(context.Background(), src, merge.Options{Jobs: 1, Together: together})
			if err != nil {
				t.Fatal(err)
			}
			a := tr.Clock.Alignment
			if a == nil || a.Clocks != len(truth.Clock) || a.Unlinked != 0 || a.Before == 0 || a.Left > 0 {
				t.Fatalf("seed %d: alignment %+v of %d clocks", seed, a, len(truth.Clock))
			}
			if k := slices.IndexFunc(tr.Findings, func(f trace.Finding) bool { return f.Code == trace.CodeClockViolation }); k >= 0 {
				t.Errorf("seed %d: aligned clocks leave nothing, and yet: %+v", seed, tr.Findings[k])
			}
			for rank, master := range tr.World {
				for _, at := range []int64{tr.Span[master].First, tr.Span[master].Last} {
					own := trueTime(truth.Clock[rank], at+epoch) // a table counts from 0
					reference := trueTime(truth.Clock[0], trace.CorrectOffset(tr.Clock.Maps[master].Offsets, at)+epoch)
					if off := own - reference; max(off, -off) > max(100, a.Bounds[master]) {
						t.Errorf("seed %d: rank %d is %d off, bound %d", seed, rank, off, a.Bounds[master])
					}
				}
			}
		}
	}
}

// TestClocksUnasked states that clocks of nodes that nobody has measured are aligned unasked if they contradict each other, in any format;
// and that neither measured clocks nor those of one node are.
func TestClocksUnasked(t *testing.T) {
	for _, c := range []struct {
		name  string
		plant samples.Plant
		clock merge.ClockMode
		want  bool
	}{
		{"skewed", samples.Plant{Skew: 5_000_000, Offsets: samples.OffsetsNone}, merge.ClockAuto, true},
		{"as recorded", samples.Plant{Skew: 5_000_000, Offsets: samples.OffsetsNone}, merge.ClockNone, false},
		{"measured", samples.Plant{Skew: 5_000_000}, merge.ClockAuto, false},
		{"one clock", samples.Plant{}, merge.ClockAuto, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			src, _, err := samples.InMemory(t.Context(), samples.Options{Program: "halo", Ranks: 8, Iterations: 30, Seed: 1, Plant: c.plant})
			if err != nil {
				t.Fatal(err)
			}
			tr, err := merge.Merge(t.Context(), src, merge.Options{Jobs: 1, Clock: c.clock})
			if err != nil {
				t.Fatal(err)
			}
			defer tr.Store.Close()
			a := tr.Clock.Alignment
			if (a != nil) != c.want || a != nil && (a.Clocks != 8 || a.Unlinked != 0 || a.Left >= a.Before || a.MaxOffset <= a.MaxBound) {
				t.Errorf("method %s, alignment %+v", tr.Clock.Method, a)
			}
		})
	}
}
