package stragglers_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tracekit/document/field"
	"tracekit/document/training"
	"tracekit/merge"
	"tracekit/readers"
	"tracekit/samples"
	"tracekit/stats/stragglers"
	"tracekit/trace"
	"tracekit/trace/tracetest"
)

// profiles generates profiles of a job without the lines that hold one of some words, and of the files without those of some ranks.
func profiles(t testing.TB, o samples.TrainingOptions, without []string, ranks ...int) (*samples.TrainingTruth, string) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "job")
	truth, err := samples.WriteProfiles(context.Background(), o, dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range ranks {
		if err := os.Remove(filepath.Join(dir, fmt.Sprintf("rank%d.pt.trace.json", r))); err != nil {
			t.Fatal(err)
		}
	}
	if len(without) == 0 {
		return truth, dir
	}
	files, _ := filepath.Glob(filepath.Join(dir, "*"))
	for _, name := range files {
		drop(t, name, without...)
	}
	return truth, dir
}

// drop takes the events whose lines hold one of some words out of a file.
func drop(t testing.TB, name string, words ...string) {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	lines := slices.DeleteFunc(bytes.SplitAfter(text, []byte("\n")), func(line []byte) bool {
		return slices.ContainsFunc(words,
			func(w string) bool { return bytes.HasPrefix(line, []byte(`{"ph"`)) && bytes.Contains(line, []byte(w)) })
	})
	if err := os.WriteFile(name, bytes.Join(lines, nil), 0o666); err != nil {
		t.Fatal(err)
	}
}

// files replaces a text in all files of a directory.
func files(t testing.TB, dir, old, with string) {
	t.Helper()
	names, _ := filepath.Glob(filepath.Join(dir, "*"))
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil || !bytes.Contains(text, []byte(old)) {
			t.Fatalf("%s has no %s: %v", name, old, err)
		}
		if err := os.WriteFile(name, bytes.ReplaceAll(text, []byte(old), []byte(with)), 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

// modelOf makes the model of files.
func modelOf(t testing.TB, paths ...string) *stragglers.Model {
	t.Helper()
	src, err := readers.OpenAll(context.Background(), paths, readers.OpenOptions{Jobs: 1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { src.Close() })
	tr, err := merge.Merge(context.Background(), src, merge.Options{Jobs: 1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { tr.Store.Close() })
	m, err := stragglers.NewModel(context.Background(), stragglers.Source(tr), 1)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// ofProfiles finds the stragglers of files.
func ofProfiles(t testing.TB, paths ...string) (*training.Job, error) {
	t.Helper()
	src, err := readers.OpenAll(context.Background(), paths, readers.OpenOptions{Jobs: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	tr, err := merge.Merge(context.Background(), src, merge.Options{Jobs: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer tr.Store.Close()
	if !stragglers.Profiled(tr.Defs) {
		t.Fatal("not recognized as profiles")
	}
	doc, _, err := stragglers.Find(context.Background(), merge.Corrected(tr), 1)
	return doc, err
}

// TestProfilesAreTables states that all figures of a job are the same whether its operations are listed in a table or its GPUs profiled.
func TestProfilesAreTables(t *testing.T) {
	for i, size := range [][3]int{{2, 4, 8}, {4, 1, 4}, {1, 4, 6}, {3, 2, 4}, {2, 3, 9}} {
		for _, schedule := range samples.Schedules() {
			size := size
			if schedule == "interleaved" {
				size[1] = max(2, size[1])
				size[2] = 2 * size[1]
			}
			o := samples.TrainingOptions{DP: size[0], PP: size[1], MicroBatches: size[2], Steps: 10, Schedule: schedule, Noise: 0.1, Seed: uint64(i),
				Kernels: 1 + i, Slow: []samples.SlowWorker{{Rank: size[0]*size[1] - 1, Factor: 1.4, From: 4}}}
			_, src := generated(t, o)
			listed := find(t, src)
			_, dir := profiles(t, o, nil)
			profiled, err := ofProfiles(t, dir)
			if err != nil {
				t.Fatalf("%v %s: %v", size, schedule, err)
			}
			if profiled.Structure == nil || profiled.Structure.Steps != training.StepsProfiler || len(profiled.Structure.Notes) > 0 {
				t.Errorf("%v %s: structure %+v", size, schedule, profiled.Structure)
			}
			// A table has garbage collections, which take no time here.
			listed.ByType = slices.DeleteFunc(listed.ByType, func(r training.TypeSlow) bool { return r.Type == "gc" })
			profiled.Structure, profiled.Operations = nil, listed.Operations
			a, b := plain(listed), plain(profiled)
			for k := range a {
				if a[k] != b[k] {
					t.Errorf("%v %s:\nlisted   %s\nprofiled %s", size, schedule, a[k], b[k])
				}
			}
		}
	}
}

// plain returns a document part by part, without pointers.
func plain(t *training.Job) (parts []string) {
	for _, p := range []any{[]int64{int64(t.Steps), t.StepNs, t.EqualNs}, t.Slowdown, *t.MW, *t.MS, t.Slowest, t.ByDP, t.ByStage, t.ByStep,
		t.Bubbles, t.ByType} {
		parts = append(parts, fmt.Sprintf("%+v", p))
	}
	for _, w := range t.ByWorker {
		parts = append(parts, fmt.Sprintf("%d %.9f %.9f %s", w.Rank, w.Slowdown, w.Excess, w.Pattern))
	}
	return parts
}

// TestPlantedGPUs states that a slow GPU is found, and no other, among those that share the work of a worker as well, with and without
// names of process groups and passes, and by clocks of hosts that differ.
func TestPlantedGPUs(t *testing.T) {
	for i := range 48 {
		o := samples.TrainingOptions{DP: 2 + i%2, PP: 1 + i%3, TP: 1 + i/2%2, MicroBatches: 4, Steps: 16, Seed: uint64(i), Noise: 0.05,
			Undescribed: i%4 > 1 && i < 40, Kernels: 2, Slow: []samples.SlowWorker{{Rank: i % 4, Factor: 1.2 + float64(i%5)/10, From: i % 2 * 6}}}
		o.Slow[0].Rank %= o.DP * o.PP
		if i >= 40 {
			o.Schedule, o.PP, o.MicroBatches = "interleaved", 2+i%3, 2*(2+i%3)
		}
		if i%5 == 0 {
			o.Skew, o.Jitter = 3_000_000, 1000
		}
		truth, dir := profiles(t, o, nil)
		doc, err := ofProfiles(t, dir)
		if err != nil {
			t.Fatalf("%d: %v", i, err)
		}
		want := map[field.Rank]string{field.Rank(truth.Slow[0].Rank): training.SlowAlways}
		if o.Slow[0].From > 0 {
			want[field.Rank(truth.Slow[0].Rank)] = training.SlowSince
		}
		for _, w := range doc.ByWorker {
			if w.Pattern != want[w.Rank] {
				t.Errorf("%d: rank %d is slow %q, want %q: %+v", i, w.Rank, w.Pattern, want[w.Rank], o)
			}
			if w.Pattern == training.SlowAlways && math.Abs(w.Excess-truth.Slow[0].Excess) > 0.03 {
				t.Errorf("%d: excess %v, want %v", i, w.Excess, truth.Slow[0].Excess)
			}
		}
		if doc.Stages != o.PP || doc.DPRanks != o.DP || max(1, doc.TPRanks) != o.TP || doc.LeftOut != 0 {
			t.Errorf("%d: %d × %d × %d, %d steps left out: %+v", i, doc.DPRanks, doc.Stages, doc.TPRanks, doc.LeftOut, o)
		}
	}
}

// TestMissingPeers states that no rank is blamed which waits for a slow one whose file is missing, be it in the same pipeline or in the
// computation that they share; and that slow ranks are found where those that miss a file are left out.
func TestMissingPeers(t *testing.T) {
	found := 0
	for _, o := range []samples.TrainingOptions{{DP: 2, PP: 1, TP: 2}, {DP: 1, PP: 4, TP: 1}, {DP: 1, PP: 3, TP: 2}, {DP: 3, PP: 1, TP: 2},
		{DP: 2, PP: 2, TP: 2}, {DP: 1, PP: 1, TP: 4}} {
		for rank := range o.DP * o.PP * o.TP {
			o.MicroBatches, o.Steps, o.Noise, o.Seed = 4, 16, 0.05, 7
			o.Slow = []samples.SlowWorker{{Rank: 0, Factor: 1.5}}
			truth, dir := profiles(t, o, nil, rank)
			doc, err := ofProfiles(t, dir)
			var missing *stragglers.MissingError
			if errors.As(err, &missing) {
				continue
			}
			if err != nil {
				t.Fatal(err)
			}
			for _, w := range doc.ByWorker {
				if w.Pattern != "" && w.Rank != field.Rank(truth.Slow[0].Rank) {
					t.Errorf("%d × %d × %d without rank %d: rank %d is slow %q, excess %.2f", o.DP, o.PP, o.TP, rank, w.Rank, w.Pattern, w.Excess)
				} else if w.Pattern != "" {
					if found++; math.Abs(w.Excess-truth.Slow[0].Excess) > 0.05 {
						t.Errorf("%d × %d × %d without rank %d: excess %.2f, want %.2f", o.DP, o.PP, o.TP, rank, w.Excess, truth.Slow[0].Excess)
					}
				}
			}
			if doc.Stages != o.PP {
				t.Errorf("%d × %d × %d without rank %d: %d stages", o.DP, o.PP, o.TP, rank, doc.Stages)
			}
		}
	}
	if found == 0 {
		t.Error("the slow rank is never found")
	}
}

// TestMissingRecords states by what steps are known where annotations are missing, and what is said of the rest.
func TestMissingRecords(t *testing.T) {
	o := samples.TrainingOptions{DP: 2, PP: 2, MicroBatches: 4, Steps: 8, Noise: 0.05, Slow: []samples.SlowWorker{{Rank: 1, Factor: 1.5}}}
	for _, c := range []struct {
		without []string
		ranks   []int // without files
		steps   string
		count   int
		note    string
		missing string // is a part of the error
	}{
		{nil, nil, training.StepsProfiler, 8, "", ""},
		{[]string{"ProfilerStep"}, nil, training.StepsRepeat, 7, "", ""},
		// the first and the last are cut off
		{[]string{"ProfilerStep", "Optimizer.step"}, nil, training.StepsRepeat, 6, training.NoOptimizer, ""},
		{[]string{"autograd", "Backward"}, nil, training.StepsProfiler, 8, training.NoBackward, ""},
		{[]string{"Forward", "Backward"}, nil, training.StepsProfiler, 8, training.NoMicroBatches, ""},
		{[]string{"cudaLaunchKernel\""}, nil, training.StepsProfiler, 8, training.NoLaunch, ""},
		{nil, []int{1}, training.StepsProfiler, 8, training.NoFiles, ""},
		{[]string{"nccl"}, nil, "", 0, "", "no operation of NCCL"},
		{[]string{"ProfilerStep", "Optimizer.step", "nccl"}, nil, "", 0, "", "no annotation ProfilerStep#"},
	} {
		_, dir := profiles(t, o, c.without, c.ranks...)
		doc, err := ofProfiles(t, dir)
		var missing *stragglers.MissingError
		switch {
		case c.missing != "":
			if !errors.As(err, &missing) || !strings.Contains(missing.Record, c.missing) {
				t.Errorf("without %q: %v, want %q", c.without, err, c.missing)
			}
			continue
		case err != nil:
			t.Errorf("without %q: %v", c.without, err)
			continue
		}
		if s := doc.Structure; s.Steps != c.steps || doc.Steps != c.count ||
			c.note != "" && !slices.ContainsFunc(s.Notes, func(n training.Unrecorded) bool { return n.Record == c.note }) {
			t.Errorf("without %q, ranks %v: %d steps by %s, %d left out, notes %v", c.without, c.ranks, doc.Steps, s.Steps, doc.LeftOut, s.Notes)
		}
		if len(c.ranks) == 0 && doc.ByWorker[0].Rank != 1 {
			t.Errorf("without %q: rank %d is the slowest", c.without, doc.ByWorker[0].Rank)
		}
		if len(c.ranks) > 0 && (doc.DPRanks != 1 || fmt.Sprint(doc.Structure.LeftOut) != "[3]") {
			t.Errorf("without rank %v: %d dp ranks, left out %v", c.ranks, doc.DPRanks, doc.Structure.LeftOut)
		}
	}
}

// TestInterleavedUnnamed states that an interleaved schedule is not replayed where micro-batches are not recorded, and that this is said.
func TestInterleavedUnnamed(t *testing.T) {
	for _, stages := range []int{2, 3} {
		o := samples.TrainingOptions{DP: 2, PP: stages, MicroBatches: 2 * stages, Steps: 4, Schedule: "interleaved"}
		_, dir := profiles(t, o, []string{"Forward"})
		_, err := ofProfiles(t, dir)
		if missing := new(stragglers.MissingError); !errors.As(err, &missing) || !strings.Contains(missing.Record, "interleaved") {
			t.Errorf("%d stages: %v", stages, err)
		}
	}
}

// TestUnlikeRanks states that ranks of which one does other computations in each step are no job that is replayed.
func TestUnlikeRanks(t *testing.T) {
	_, dir := profiles(t, samples.TrainingOptions{DP: 2, PP: 1, MicroBatches: 4, Steps: 4}, nil)
	drop(t, filepath.Join(dir, "rank1.pt.trace.json"), "gemm_backward-compute")
	_, err := ofProfiles(t, dir)
	if missing := new(stragglers.MissingError); !errors.As(err, &missing) {
		t.Error(err)
	}
}

// TestGlooProfiles states that rank 1 of a real run, which sleeps 20 ms in each step, is slow, and how much a step would be shorter.
func TestGlooProfiles(t *testing.T) {
	dir := tracetest.Shared(t, "json/gloo")
	doc, err := ofProfiles(t, filepath.Join(dir, "rank0.pt.trace.json.gz"), filepath.Join(dir, "rank1.pt.trace.json.gz"))
	if err != nil {
		t.Fatal(err)
	}
	if doc.Steps != 4 || doc.ByWorker[0].Rank != 1 || *doc.MW < 0.85 || doc.Structure.Steps != training.StepsNamed {
		t.Errorf("%+v, %+v", doc, doc.Structure)
	}
	if saved := doc.StepNs - doc.EqualNs; saved < 9_000_000 || saved > 13_000_000 { // equal ranks sleep 10 ms each
		t.Errorf("equal ranks save %d ns a step", saved)
	}
}

// TestUnprofiled states that traces of MPI are no profiles.
func TestUnprofiled(t *testing.T) {
	m := samples.NewMemory(trace.Info{}, &trace.Defs{})
	if stragglers.Profiled(m.Defs()) {
		t.Error("a trace without locations is taken for profiles")
	}
}
