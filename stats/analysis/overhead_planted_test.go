package analysis_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"tracekit/stats/analysis"
	"tracekit/stats/overhead"
)

// A planting is a law of durations in ns and its 99 % quantile.
type planting struct {
	name string
	draw func(*rand.Rand) float64
	tMax float64
}

// plantings are laws of which the quantile is known in closed form.
func plantings() []planting {
	return []planting{
		{"exponential", func(r *rand.Rand) float64 { return 2000 + 500*r.ExpFloat64() }, 2000 + 500*math.Log(100)},
		{"normal", func(r *rand.Rand) float64 { return 5000 + 200*r.NormFloat64() }, 5000 + 200*2.3263478740408408},
		{"lognormal", func(r *rand.Rand) float64 { return 1000 + math.Exp(6+0.5*r.NormFloat64()) }, 1000 + math.Exp(6+0.5*2.3263478740408408)},
	}
}

// draws returns n durations.
func (p planting) draws(r *rand.Rand, n int) []int64 {
	out := make([]int64, n)
	for i := range out {
		out[i] = int64(p.draw(r))
	}
	return out
}

// TestPlantedOverhead slows 1 to 10 per cent of the calls of one of three lines that share
// their keys. That line must be the first of the table, and its overhead within 5 per cent
// of Σ max(0, t - true t_max) over the slowed calls.
func TestPlantedOverhead(t *testing.T) {
	for _, law := range plantings() {
		for _, percent := range []int{1, 2, 5, 10} {
			t.Run(fmt.Sprintf("%s/%d", law.name, percent), func(t *testing.T) {
				r := rand.New(rand.NewPCG(11, uint64(percent)))
				lines := map[string][]int64{"a.c:10": law.draws(r, 1500), "b.c:20": law.draws(r, 1500), "c.c:30": law.draws(r, 1500)}
				planted, slowed := 0.0, lines["b.c:20"]
				for i := 0; i < len(slowed); i += 100 / percent {
					slowed[i] += 30_000 + r.Int64N(20_000)
					planted += math.Max(0, float64(slowed[i])-law.tMax)
				}
				_, a := overheadOf(t, sendsText(lines, []string{"a.c:10", "b.c:20", "c.c:30"}), overhead.Options{PerLine: true})
				counted(t, a, lines)
				l := a.Overhead.Lines[0]
				if l.Operation != "MPI_Send" || l.File != "b.c" || l.Line != 20 {
					t.Errorf("%s at %s:%d is first", l.Operation, l.File, l.Line)
				}
				off := float64(l.OverheadNs)/planted - 1
				t.Logf("overhead %d, planted %.0f: %+.2f %%", l.OverheadNs, planted, 100*off)
				if math.Abs(off) > 0.05 {
					t.Error("more than 5 % off")
				}
				if k := a.Overhead.Keys[0]; k.Operation != "MPI_Send" || percent >= 2 && k.Accepted && !k.Anomalous {
					t.Errorf("the slowed key is not seen: %+v", k)
				}
			})
		}
	}
}

// counted checks that the durations of each line of sends are in the bars in which they lie.
func counted(t *testing.T, a *analysis.Result, lines map[string][]int64) {
	t.Helper()
	for _, l := range a.LineCalls {
		durations := lines[fmt.Sprintf("%s:%d", l.File, l.Line)]
		if l.Operation != "MPI_Send" {
			continue
		}
		if len(l.Keys) != 1 || l.Keys[0].Calls != uint64(len(durations)) || a.Overhead.Keys[l.Keys[0].Key].Operation != l.Operation {
			t.Fatalf("%s:%d has %d calls, counted %+v", l.File, l.Line, len(durations), l.Keys)
		}
		want := make([]uint64, l.Keys[0].Bars.N+1)
		for _, d := range durations {
			want[l.Keys[0].Bars.At(d)]++
		}
		if !slices.Equal(want, l.Keys[0].Counts) {
			t.Errorf("%s:%d: %v, want %v", l.File, l.Line, l.Keys[0].Counts, want)
		}
	}
}

// TestNothingPlanted states that in at least 95 per cent of repetitions no key is called
// anomalous if no call is slowed.
func TestNothingPlanted(t *testing.T) {
	const repetitions = 20
	wrong := 0
	for _, law := range plantings() {
		for k := range uint64(repetitions) {
			r := rand.New(rand.NewPCG(5, k))
			_, a := overheadOf(t, sendsText(map[string][]int64{"a.c:1": law.draws(r, 400)}, []string{"a.c:1"}), overhead.Options{})
			for _, key := range a.Overhead.Keys {
				if key.Anomalous {
					wrong++
					break
				}
			}
		}
	}
	n := len(plantings()) * repetitions
	t.Logf("in %d of %d repetitions a key is called anomalous", wrong, n)
	if 20*wrong > n {
		t.Error("more than 5 %")
	}
}
