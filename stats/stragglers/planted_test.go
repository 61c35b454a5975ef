package stragglers_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"slices"
	"testing"

	"tracekit/document/training"
	"tracekit/samples"
	"tracekit/stats/stragglers"
	"tracekit/trace"
)

// generated returns a generated job and what is true of it.
func generated(t testing.TB, o samples.TrainingOptions) (*samples.TrainingTruth, *samples.Memory) {
	t.Helper()
	var sink *samples.Memory
	truth, err := samples.GenerateTraining(context.Background(), o, func(info trace.Info, defs *trace.Defs) (trace.Sink, error) {
		sink = samples.NewMemory(info, defs)
		return sink, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return truth, sink
}

func find(t testing.TB, src trace.Source) *training.Job {
	t.Helper()
	doc, _, err := stragglers.Find(context.Background(), src, 1)
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

// TestReplayIsExact states that the replay of a generated job gives the length of each step, and of equal workers that all steps are
// alike.
func TestReplayIsExact(t *testing.T) {
	for _, schedule := range samples.Schedules() {
		for _, size := range [][3]int{{1, 1, 4}, {2, 2, 4}, {4, 4, 8}, {3, 4, 16}, {1, 8, 8}, {8, 1, 2}} {
			if schedule == "interleaved" && size[1] == 1 {
				continue
			}
			t.Run(fmt.Sprint(schedule, size), func(t *testing.T) {
				truth, src := generated(t, samples.TrainingOptions{DP: size[0], PP: size[1], TP: 2, MicroBatches: size[2], Steps: 6, Schedule: schedule,
					Noise: 0.2, Sequences: 0.3, LastStage: 0.2, Slow: []samples.SlowWorker{{Rank: 0, Factor: 1.5}}})
				doc := find(t, src)
				if doc.Steps != 6 || doc.LeftOut != 0 || doc.Unknown != 0 {
					t.Fatalf("%d steps, %d left out, %d unknown operations", doc.Steps, doc.LeftOut, doc.Unknown)
				}
				for i, s := range doc.ByStep {
					if s.StepNs != truth.StepNs[i] {
						t.Errorf("step %d takes %d, want %d", i, s.StepNs, truth.StepNs[i])
					}
				}
				truth, src = generated(t, samples.TrainingOptions{DP: size[0], PP: size[1], MicroBatches: size[2], Steps: 2, Schedule: schedule})
				if doc = find(t, src); doc.EqualNs != truth.StepNs[0] || doc.Slowdown != 1 {
					t.Errorf("equal workers: a step takes %d, want %d; slowdown %v", doc.EqualNs, truth.StepNs[0], doc.Slowdown)
				}
			})
		}
	}
}

// planted are the options of run i of those below, without slow workers.
func planted(i int) samples.TrainingOptions {
	o := samples.TrainingOptions{DP: 2 + i%3, PP: 1 + i%4, Steps: 20 + i%20, Seed: uint64(i), Noise: 0.05,
		Schedule: samples.Schedules()[i/4%3]}
	if o.Schedule == "interleaved" {
		o.PP++
	}
	o.MicroBatches = 2 * o.PP
	return o
}

// runs is how many jobs are generated of each kind.
const runs = 100

// TestPlantedWorkers states that each worker that is slow in all steps, since a step, or at random is found as that, and no other.
func TestPlantedWorkers(t *testing.T) {
	for i := range runs {
		o := planted(i)
		slow := samples.SlowWorker{Rank: i * 7 % (o.DP * o.PP), Factor: 1.1 + float64(i%4)/10}
		want := training.SlowAlways
		switch i % 3 {
		case 1:
			slow.From, want = o.Steps/3+i%5, training.SlowSince
		case 2:
			slow.Share, slow.Factor, want = 0.2, slow.Factor+0.4, training.SlowAtRandom
		}
		o.Slow = []samples.SlowWorker{slow}
		truth, src := generated(t, o)
		doc := find(t, src)
		if doc.Sequences.Varying {
			t.Errorf("run %d: sequences vary: %+v", i, doc.Sequences)
		}
		for k, w := range doc.ByWorker {
			switch {
			case int(w.Rank) != truth.Slow[0].Rank:
				if w.Pattern != "" {
					t.Errorf("run %d: rank %d is %s, which is not slow", i, w.Rank, w.Pattern)
				}
			case w.Pattern != want:
				t.Errorf("run %d: rank %d is %q, want %s (excess %.3f)", i, w.Rank, w.Pattern, want, w.Excess)
			case want == training.SlowSince && (*w.Step < int64(slow.From)-1 || *w.Step > int64(slow.From)+1):
				t.Errorf("run %d: slow since step %d, want %d", i, *w.Step, slow.From)
			case k != 0 && want != training.SlowAtRandom && o.PP > 1 && o.DP > 2:
				t.Errorf("run %d: the slow worker is number %d of the slowest", i, k+1)
			}
		}
	}
}

// TestEqualWorkers states that of runs in which workers are equal at most two in a hundred have one that is found slow.
func TestEqualWorkers(t *testing.T) {
	found := 0
	for i := range runs {
		_, src := generated(t, planted(i))
		for _, w := range find(t, src).ByWorker {
			if w.Pattern != "" {
				t.Logf("run %d: rank %d is %s, excess %.4f", i, w.Rank, w.Pattern, w.Excess)
				found++
				break
			}
		}
	}
	if found > 2 {
		t.Errorf("%d of %d equal runs have slow workers", found, runs)
	}
}

// TestLastStage states that a last stage that is too long explains the loss, and that varying sequences are seen.
func TestLastStage(t *testing.T) {
	for i := range 20 {
		o := planted(i)
		o.PP = max(2, o.PP)
		o.LastStage = 0.4
		o.MicroBatches = 4 * o.PP
		_, src := generated(t, o)
		doc := find(t, src)
		if doc.MS == nil || *doc.MS < 0.5 || doc.ByStage[o.PP-1].Slowdown < 1.05 || doc.Sequences.Varying {
			t.Errorf("run %d: M_S %v, slowdown of the last stage %v, sequences %+v", i, doc.MS, doc.ByStage[o.PP-1].Slowdown, doc.Sequences)
		}
		o.LastStage, o.Sequences, o.Noise = 0, 0.5, 0.02
		_, src = generated(t, o)
		if doc = find(t, src); !doc.Sequences.Varying {
			t.Errorf("run %d: sequences %+v", i, doc.Sequences)
		}
	}
}

// without is a source without the events of some ranks.
type without struct {
	trace.Source
	ranks []uint32
}

func (w without) Events(ctx context.Context, l trace.LocationID) iter.Seq2[*trace.Batch, error] {
	if slices.Contains(w.ranks, uint32(w.Defs().Process(l))) {
		return func(func(*trace.Batch, error) bool) {}
	}
	return w.Source.Events(ctx, l)
}

// TestMissingWorkers states that data-parallel ranks whose stages are not all in the trace are left out, and which workers are missing.
func TestMissingWorkers(t *testing.T) {
	_, src := generated(t, samples.TrainingOptions{DP: 3, PP: 2, MicroBatches: 4, Steps: 4})
	doc := find(t, without{src, []uint32{4}}) // stage 1 of dp rank 1
	if doc.DPRanks != 2 || doc.Steps != 4 || !slices.Equal(doc.Missing, []training.WorkerMissing{{DP: 1, Stage: 1}}) {
		t.Errorf("%d dp ranks, %d steps, missing %v", doc.DPRanks, doc.Steps, doc.Missing)
	}
	_, _, err := stragglers.Find(t.Context(), without{src, []uint32{0, 1, 5}}, 1)
	if missing := new(stragglers.MissingError); !errors.As(err, &missing) {
		t.Errorf("no dp rank is whole: %v", err)
	}
}

// TestMended states that what a step gains without a slow worker is what the same job takes without it, of two data-parallel ranks as well.
func TestMended(t *testing.T) {
	for _, o := range []samples.TrainingOptions{
		{DP: 1, PP: 4, MicroBatches: 6, Steps: 8},
		{DP: 2, PP: 1, MicroBatches: 4, Steps: 8},
		{DP: 4, PP: 4, MicroBatches: 8, Steps: 8},
		{DP: 8, PP: 2, MicroBatches: 4, Steps: 8, Noise: 0.02},
		{DP: 4, PP: 2, TP: 2, MicroBatches: 4, Steps: 8, Noise: 0.02},
	} {
		_, src := generated(t, o)
		want := find(t, src).StepNs
		o.Slow = []samples.SlowWorker{{Rank: 1, Factor: 3}}
		_, src = generated(t, o)
		doc := find(t, src)
		w := &doc.ByWorker[0]
		if w.Rank != 1 || w.GainNs == nil || doc.StepNs-*w.GainNs != doc.MendedNs {
			t.Fatalf("%+v: %+v, mended %d", o, w, doc.MendedNs)
		}
		if diff := math.Abs(float64(doc.MendedNs-want)) / float64(want); diff > 1e-6+o.Noise {
			t.Errorf("%+v: mended %d, without the slow worker %d", o, doc.MendedNs, want)
		}
	}
}

// TestChanged states that a run that was written with a change takes as long as was predicted.
func TestChanged(t *testing.T) {
	_, src := generated(t, samples.TrainingOptions{DP: 3, PP: 4, MicroBatches: 8, Steps: 6, Noise: 0.1,
		Slow: []samples.SlowWorker{{Rank: 4, Factor: 1.5}}})
	m, err := stragglers.NewModel(t.Context(), src, 1)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []stragglers.Change{{}, {Equalize: true}, {Replace: 0.03}, {Rebalance: true}} {
		doc := find(t, m.Changed(c))
		if want := m.Predict(c); max(want-doc.StepNs*6, doc.StepNs*6-want) > 30 { // times are rounded
			t.Errorf("%+v: %d ns, predicted %d", c, doc.StepNs*6, want)
		}
	}
}
