package stragglers_test

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"tracekit/document/training"
)

// TestServer states that steps, groups and the slow rank of a server of models are found, of two pipeline stages of two tensor-parallel
// ranks each: nothing numbers its steps, operators that reach into the memory of other processes do not say which, and of several groups
// the names of processes tell the tensor-parallel one. Without these names nobody is blamed.
func TestServer(t *testing.T) {
	const ranks, steps, layers, slow = 4, 12, 8, 3
	served := func(names string) (*training.Job, error) {
		f := newTorchFiles(ranks, []int{0, 1, 2, 3}, []int{0, 1}, []int{2, 3}, []int{0, 2}, []int{1, 3})
		now := [ranks]float64{1000, 1000, 1000, 1000}
		for r := range now {
			f.process(r, fmt.Sprintf(names, r/2, r%2))
		}
		for s := range steps {
			begins := now
			for range layers {
				for _, g := range [][]int{{0, 1}, {2, 3}} {
					came := now
					for _, r := range g {
						if came[r] += 50; r == slow {
							came[r] += 25
						}
						f.add(r, 1, "cpu_op", "aten::mm", now[r], came[r], nil)
					}
					for _, r := range g {
						now[r] = max(came[g[0]], came[g[1]]) + 5
						f.add(r, 1, "cpu_op", "_C::shm_allreduce", came[r], now[r], nil)
					}
				}
			}
			for r := range now {
				f.add(r, 1, "user_annotation", fmt.Sprintf("execute_context_0(0)_generation_%d(%[1]d)", 1+s/3), begins[r], now[r]+1, nil)
			}
			next := slices.Max(now[:]) + 10 // the engine waits for all
			now = [ranks]float64{next, next, next, next}
		}
		return ofProfiles(t, f.write(t))
	}
	doc, err := served("VLLM::Worker_PP%d_TP%d")
	if err != nil {
		t.Fatal(err)
	}
	if doc.Structure.Steps != training.StepsServed || doc.Steps != steps || doc.TPRanks != 2 || len(doc.Structure.Notes) > 1 {
		t.Errorf("%d steps by %s, %d tensor-parallel ranks, %v", doc.Steps, doc.Structure.Steps, doc.TPRanks, doc.Structure.Notes)
	}
	for _, w := range doc.ByWorker {
		switch {
		case (w.Rank == slow) != (w.Pattern == training.SlowAlways):
			t.Errorf("rank %d is %q", w.Rank, w.Pattern)
		case w.Rank == slow && math.Abs(float64(*w.GainNs)-layers*25e3) > 2e3:
			t.Errorf("a step would be %d ns shorter, want %d", *w.GainNs, layers*25000)
		}
	}
	if doc, err := served("python%d%d"); err == nil {
		t.Errorf("without names of processes: %+v", doc.ByWorker)
	}
}

// TestMissingLane: where the file of the slowest rank is missing, that others wait for it counts as computation of none. So one which is
// slower than the rest is found, and with its own time.
func TestMissingLane(t *testing.T) {
	const ranks, steps, layers, missing, slower = 4, 12, 8, 2, 0
	f := newTorchFiles(ranks, []int{0, 1, 2, 3})
	var now [ranks]float64
	for r := range now {
		f.process(r, fmt.Sprintf("VLLM::Worker_TP%d", r))
	}
	for s := range steps {
		begin := slices.Max(now[:]) + 10 // the engine waits for all
		now = [ranks]float64{begin, begin, begin, begin}
		for range layers {
			came := now
			for r := range came {
				came[r] += [...]float64{slower: 60, 1: 50, missing: 90, 3: 50}[r]
				f.add(r, 1, "cpu_op", "aten::mm", now[r], came[r], nil)
			}
			for r := range came {
				now[r] = slices.Max(came[:]) + 5
				f.add(r, 1, "cpu_op", "_C::shm_allreduce", came[r], now[r], nil)
			}
		}
		for r := range now {
			f.add(r, 1, "user_annotation", fmt.Sprintf("execute_context_0(0)_generation_%d(%[1]d)", 1+s/3), begin, now[r]+1, nil)
		}
	}
	dir := f.write(t)
	files, err := filepath.Glob(filepath.Join(dir, fmt.Sprintf("*%d*", missing)))
	if err != nil || len(files) != 1 {
		t.Fatal(files, err)
	}
	if err := os.Remove(files[0]); err != nil {
		t.Fatal(err)
	}
	doc, err := ofProfiles(t, dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range doc.ByWorker {
		if (w.Rank == slower) != (w.Pattern == training.SlowAlways) || w.Rank == slower && math.Abs(w.Excess-0.2) > 0.02 {
			t.Errorf("rank %d is slow %q, excess %.2f", w.Rank, w.Pattern, w.Excess)
		}
	}
}
