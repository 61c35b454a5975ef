package stragglers_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"tracekit/samples"
	"tracekit/stats/stragglers"
	"tracekit/trace"
)

// TestCurves states that curves of latency and of bandwidth are what replays on the slower network give, at points by chance; that they are
// convex and begin with the run as it is; and that they end where it is a tenth longer.
func TestCurves(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for i, size := range [][3]int{{2, 4, 8}, {4, 1, 4}, {1, 4, 6}, {3, 2, 4}} {
		for _, schedule := range samples.Schedules() {
			o := samples.TrainingOptions{DP: size[0], PP: size[1], MicroBatches: size[2], Steps: 5, Noise: 0.2, Seed: uint64(i), Schedule: schedule}
			if schedule == "interleaved" {
				o.PP, o.MicroBatches = max(2, o.PP), 2*max(2, o.PP)
			}
			_, src := generated(t, o)
			m, err := stragglers.NewModel(t.Context(), src, 1)
			if err != nil {
				t.Fatal(err)
			}
			for _, base := range []stragglers.Change{{}, {Equalize: true}, {Latency: 1000, PerByte: 0.01}} {
				latency, _ := m.Latency(0, base)
				bandwidth, _, err := m.Bandwidth(0, base)
				if err != nil {
					t.Fatal(err)
				}
				for k, lines := range [][]stragglers.Line{latency, bandwidth} {
					at := func(x float64) int64 {
						c := base
						if k == 0 {
							c.Latency += x
						} else {
							c.PerByte += x
						}
						return m.Predict(c)
					}
					first, last := lines[0], lines[len(lines)-1]
					if whole := float64(at(0)); math.Abs(first.Base-whole) > 1 || last.Base+last.Slope*last.To < 1.1*whole-1 || first.From != 0 {
						t.Errorf("from %v to %v, run time %v", first, last, whole)
					}
					for range 20 {
						x := random.Float64() * last.To
						l := lines[slices.IndexFunc(lines, func(l stragglers.Line) bool { return x <= l.To })]
						if got, want := l.Base+l.Slope*x, at(x); math.Abs(got-float64(want)) > 1 {
							t.Errorf("curve %d at %v: %v, the replay says %d", k, x, got, want)
						}
						if l.Messages < 1 || k == 0 && l.Messages != l.Slope || k == 1 && l.Slope < 1<<20*l.Messages {
							t.Errorf("curve %d: %+v", k, l)
						}
					}
					for i := 1; i < len(lines); i++ {
						if lines[i].Slope <= lines[i-1].Slope || lines[i].From != lines[i-1].To {
							t.Errorf("%+v follows %+v", lines[i], lines[i-1])
						}
					}
				}
			}
		}
	}
}

// TestNoSizes states that a curve of bandwidth is refused where no size is recorded, and that what has none is named where others have one.
func TestNoSizes(t *testing.T) {
	o := samples.TrainingOptions{DP: 2, PP: 2, MicroBatches: 4, Steps: 3}
	_, src := generated(t, o)
	bytes := src.Defs().AttributeByName(trace.AttributeBytes)
	name := src.Defs().Attributes[bytes].Name
	src.Defs().Strings[name] = "weight"
	m, err := stragglers.NewModel(t.Context(), src, 1)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := m.Bandwidth(0, stragglers.Change{}); !errors.Is(err, stragglers.ErrNoSizes) {
		t.Errorf("without sizes: %v", err)
	}
	_, dir := profiles(t, o, nil)
	files(t, dir, `"Collective name":"_reduce_scatter_base","In msg nelems":2097152,"Out msg nelems":2097152,`,
		`"Collective name":"_reduce_scatter_base",`)
	m = modelOf(t, dir)
	if without, err := m.Sized(); err != nil || !slices.Equal(without, []string{"grads-reduce-scatter"}) {
		t.Errorf("without a size: %v, %v", without, err)
	}
	if _, _, err := m.Bandwidth(0, stragglers.Change{}); err != nil {
		t.Error(err)
	}
}

// TestChangedLanes states that a changed run of workers of several GPUs, written and read again, has the same workers, and takes as long as
// was predicted.
func TestChangedLanes(t *testing.T) {
	_, dir := profiles(t, samples.TrainingOptions{DP: 2, PP: 2, TP: 2, MicroBatches: 4, Steps: 6, Noise: 0.1,
		Slow: []samples.SlowWorker{{Rank: 1, Factor: 1.5}}}, nil)
	before, err := ofProfiles(t, dir)
	if err != nil {
		t.Fatal(err)
	}
	m := modelOf(t, dir)
	for _, c := range []stragglers.Change{{}, {Equalize: true}, {Replace: 0.03}, {Rebalance: true}, {Latency: 5000}} {
		doc := find(t, m.Changed(c))
		if want := m.Predict(c); max(want-doc.StepNs*6, doc.StepNs*6-want) > 30 { // times are rounded
			t.Errorf("%+v: %d ns, predicted %d", c, doc.StepNs*6, want)
		}
		if doc.TPRanks != 2 || doc.DPRanks != 2 || doc.Stages != 2 || doc.LeftOut != 0 {
			t.Errorf("%+v: %d × %d × %d, %d steps left out", c, doc.DPRanks, doc.Stages, doc.TPRanks, doc.LeftOut)
		}
		if c == (stragglers.Change{}) && math.Abs(doc.Slowdown-before.Slowdown) > 1e-6 {
			t.Errorf("slowdown %v, before %v", doc.Slowdown, before.Slowdown)
		}
	}
}
