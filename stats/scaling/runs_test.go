package scaling_test

import (
	"context"
	"fmt"
	"math"
	"strings"
	"testing"

	"tracekit/merge"
	"tracekit/readers"
	"tracekit/samples"
	"tracekit/stats/analysis"
	"tracekit/stats/scaling"
	"tracekit/stats/statstest"
	"tracekit/trace"
	"tracekit/trace/tracetest"
)

func analyzed(t testing.TB, src trace.Source) *analysis.Result {
	t.Helper()
	_, a := statstest.Analyzed(t, src, merge.Options{}, analysis.Options{Top: 1})
	return a
}

func compared(t testing.TB, runs []*analysis.Result, opts scaling.Options) *scaling.Scaling {
	t.Helper()
	s, err := scaling.New(context.Background(), runs, opts)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// generated analyses a generated run.
func generated(t testing.TB, o samples.Options) *analysis.Result {
	t.Helper()
	return analyzed(t, statstest.Generated(t, o))
}

// TestModelfactors compares with the table that BSC's modelfactors prints of EPOCH on 1, 2 and 4
// processes, in per cent (IPC and GHz as they are).
func TestModelfactors(t *testing.T) {
	var runs []*analysis.Result
	for _, n := range []int{4, 1, 2} { // in any order
		path := tracetest.Shared(t, "paraver", "epoch_1-2-4", fmt.Sprintf("epoch_%dproc.prv.gz", n))
		src, err := readers.Open(context.Background(), path, readers.OpenOptions{})
		if err != nil {
			t.Fatal(err)
		}
		defer src.Close()
		runs = append(runs, analyzed(t, src))
	}
	s := compared(t, runs, scaling.Options{})
	if s.Mode != scaling.Strong || !s.Detected || len(s.Sizes) != 3 {
		t.Fatalf("%s scaling of %d sizes", s.Mode, len(s.Sizes))
	}
	for _, row := range []struct {
		name   string
		of     func(*scaling.Factors) *float64
		want   [3]float64
		factor float64
	}{
		{"parallel efficiency", func(f *scaling.Factors) *float64 { return f.ParallelEfficiency }, [3]float64{99.93, 99.38, 97.35}, 100},
		{"load balance", func(f *scaling.Factors) *float64 { return f.LoadBalance }, [3]float64{100, 99.76, 98.69}, 100},
		{"communication efficiency", func(f *scaling.Factors) *float64 {
			return f.CommunicationEfficiency
		}, [3]float64{99.93, 99.62, 98.64}, 100},
		{"serialization", func(f *scaling.Factors) *float64 { return f.SerializationEfficiency }, [3]float64{100, 99.84, 99.20}, 100},
		{"transfer", func(f *scaling.Factors) *float64 { return f.TransferEfficiency }, [3]float64{99.93, 99.77, 99.44}, 100},
		{"computation scalability", func(f *scaling.Factors) *float64 { return f.ComputationScalability }, [3]float64{100, 95.50, 92.39}, 100},
		{"global efficiency", func(f *scaling.Factors) *float64 { return f.GlobalEfficiency }, [3]float64{99.93, 94.91, 89.94}, 100},
		{"IPC scalability", func(f *scaling.Factors) *float64 { return f.IPCScalability }, [3]float64{100, 99.92, 99.75}, 100},
		{"instruction scalability", func(f *scaling.Factors) *float64 { return f.InstructionScalability }, [3]float64{100, 96.75, 95.79}, 100},
		{"frequency scalability", func(f *scaling.Factors) *float64 { return f.FrequencyScalability }, [3]float64{100, 98.79, 96.70}, 100},
		{"speedup", func(f *scaling.Factors) *float64 { return f.Speedup }, [3]float64{100, 190.0, 360.0}, 100},
		{"average IPC", func(f *scaling.Factors) *float64 { return f.IPC }, [3]float64{187.2, 187.0, 186.7}, 100},
		{"GHz", func(f *scaling.Factors) *float64 { return f.FrequencyGHz }, [3]float64{207.0, 204.5, 200.2}, 100},
	} {
		for i, want := range row.want {
			const margin = 0.1 // percentage points
			if got := row.of(&s.Sizes[i].Factors); got == nil || math.Abs(100**got-want) > margin {
				t.Errorf("%s with %d processes is %v, modelfactors say %v", row.name, s.Sizes[i].Processes, got, want)
			}
		}
	}
}

// TestGrowthOfRuns states that laws by which the work of generated runs grows are found from runs
// of 2 to 32 ranks, and that what they foretell for 64 is within 5 % of a run of 64.
func TestGrowthOfRuns(t *testing.T) {
	for _, law := range []struct {
		growth samples.Growth
		found  string
	}{
		{samples.GrowthConstant, "1"}, {samples.GrowthLog, "log2(p)"}, {samples.GrowthSqrt, "p^(1/2)"},
		{samples.GrowthLinear, "p"}, {samples.GrowthNLogN, "p·log2(p)"},
	} {
		options := func(ranks int) samples.Options {
			return samples.Options{Program: "halo", Ranks: ranks, Iterations: 10, Seed: uint64(ranks), Growth: law.growth}
		}
		var runs []*analysis.Result
		for ranks := 2; ranks <= 32; ranks *= 2 {
			runs = append(runs, generated(t, options(ranks)))
		}
		s := compared(t, runs, scaling.Options{})
		truth := generated(t, options(64))
		checked := 0
		for i := range s.Models {
			m := &s.Models[i]
			name := m.Path[len(m.Path)-1]
			if name != "interior" && name != "boundary" {
				continue
			}
			checked++
			if m.Growth != law.found {
				t.Errorf("growth %q: %s is found to grow with %s: %s", law.growth, name, m.Growth, m.Formula)
			}
			for k := range truth.CallPaths {
				if p := &truth.CallPaths[k]; p.Region == name {
					if want := float64(p.ExclusiveNs) / 64; s.At != 64 || math.Abs(m.Predicted-want) > 0.05*want {
						t.Errorf("growth %q: %s is foretold to take %.0f ns with %d ranks, it takes %.0f", law.growth, name, m.Predicted, s.At, want)
					}
				}
			}
		}
		if checked != 2 {
			t.Errorf("growth %q: %d of 2 places have models", law.growth, checked)
		}
		if r := s.Runtime; r == nil || math.Abs(r.Predicted-float64(truth.Trace.DurationNs)) > 0.05*float64(truth.Trace.DurationNs) {
			t.Errorf("growth %q: the run time is foretold to be %+v, it is %d", law.growth, r, truth.Trace.DurationNs)
		}
	}
}

// TestMode states which runs scale weakly and which strongly, that one asked for is taken, and that
// ideal weak scaling has a computation scalability of 1.
func TestMode(t *testing.T) {
	var weak, strong []*analysis.Result
	for _, ranks := range []int{2, 4, 8} {
		weak = append(weak, generated(t, samples.Options{Program: "halo", Ranks: ranks, Iterations: 4, Steady: true}))
		strong = append(strong, generated(t, samples.Options{Program: "halo", Ranks: ranks, Iterations: 4, Steady: true,
			Compute: int64(80_000 / ranks)}))
	}
	if s := compared(t, strong, scaling.Options{}); s.Mode != scaling.Strong {
		t.Errorf("work that is shared out: %s scaling", s.Mode)
	}
	s := compared(t, weak, scaling.Options{})
	if s.Mode != scaling.Weak {
		t.Errorf("equal work for each rank: %s scaling", s.Mode)
	}
	if c := s.Sizes[2].ComputationScalability; c == nil || math.Abs(*c-1) > 0.03 {
		t.Errorf("computation scalability of ideal weak scaling is %v", c)
	}
	if s := compared(t, weak, scaling.Options{Mode: scaling.Strong}); s.Mode != scaling.Strong || s.Detected ||
		*s.Sizes[2].ComputationScalability > 0.3 {
		t.Errorf("strong scaling was asked for: %s, detected: %v", s.Mode, s.Detected)
	}
}

// TestWhatIsMissing states that what cannot be said of runs is absent and said in words.
func TestWhatIsMissing(t *testing.T) {
	halo := func(ranks int, seed uint64) *analysis.Result {
		return generated(t, samples.Options{Program: "halo", Ranks: ranks, Iterations: 4, Seed: seed})
	}
	sweep := generated(t, samples.Options{Program: "sweep", Ranks: 8, Iterations: 4})
	for _, c := range []struct {
		name         string
		runs         []*analysis.Result
		alike        bool
		sizes, runsN int
		note         string
	}{
		{"one run", []*analysis.Result{halo(2, 1)}, true, 1, 1, "one run only"},
		{"repetitions", []*analysis.Result{halo(4, 1), halo(4, 2)}, true, 1, 2, "repetitions"},
		{"two sizes", []*analysis.Result{halo(4, 1), halo(2, 2)}, true, 2, 2, "needs 3"},
		{"different programs", []*analysis.Result{halo(4, 1), sweep}, false, 2, 2, "hardware counters"},
	} {
		s := compared(t, c.runs, scaling.Options{})
		if s.Comparable.Alike != c.alike || len(s.Sizes) != c.sizes || len(s.Runs) != c.runsN ||
			!strings.Contains(strings.Join(s.Notes, "; "), c.note) {
			t.Errorf("%s: %+v, %d sizes, %d runs, %q", c.name, s.Comparable, len(s.Sizes), len(s.Runs), s.Notes)
		}
		if c.sizes == 1 || !c.alike {
			if f := s.Sizes[0].Factors; f.Speedup != nil || f.ComputationScalability != nil || f.IPC != nil || s.Mode != "" || s.At != 0 ||
				f.ParallelEfficiency == nil {
				t.Errorf("%s: %+v", c.name, f)
			}
		}
		if len(s.Models) > 0 || s.Runtime != nil {
			t.Errorf("%s: there are models", c.name)
		}
	}
	repeated := compared(t, []*analysis.Result{halo(4, 1), halo(2, 1), halo(4, 2)}, scaling.Options{})
	size := repeated.Sizes[1]
	if mean := (repeated.Runs[1].RuntimeNs + repeated.Runs[2].RuntimeNs) / 2; size.Runs != 2 || size.RuntimeSpread == nil ||
		size.RuntimeNs/2 != mean/2 {
		t.Errorf("two runs of one size: %+v, mean run time %d", size, mean)
	}
}
