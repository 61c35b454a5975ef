package stragglers_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"tracekit/stats/stragglers"
)

// TestGroupsOfThreads states that the groups of gloo, whose operations do not name them, are known by their threads where what ranks wait
// for leaves one assignment: of tensor- and data-parallel groups of four ranks the slow rank is found. Of a step in which all do the same
// at the same time several are possible, and nobody is named. Several groups of the same ranks do not matter, and a group of all ranks is
// the one that ranks wait in for all.
func TestGroupsOfThreads(t *testing.T) {
	const slow = 2
	all := []int{0, 1, 2, 3}
	tensor, data := [][]int{{0, 1}, {2, 3}}, [][]int{{0, 2}, {1, 3}}
	run := func(steps int, noise float64, world bool, groups ...[]int) error {
		f := newTorchFiles(4, groups...)
		r := rand.New(rand.NewPCG(1, 1))
		now := []float64{1000, 1000, 1000, 1000}
		// reduce lets the ranks of groups leave a reduction 10 µs after their last has come. Any of two threads is free to do it.
		reduce := func(thread int, groups ...[]int) {
			for _, g := range groups {
				last := 0.0
				for _, rank := range g {
					last = max(last, now[rank])
				}
				for _, rank := range g {
					f.add(rank, 1, "cpu_op", "c10d::allreduce_", now[rank], now[rank]+0.5, nil)
					f.add(rank, thread+r.IntN(2), "user_annotation", "gloo:all_reduce", now[rank]+0.5, last+10, nil)
					now[rank] = last + 10
				}
			}
		}
		for s := range steps {
			begins := append([]float64(nil), now...)
			for pass, op := range []string{"aten::mm", "autograd::engine::evaluate_function: MmBackward0"} {
				for n := range 2 {
					for rank := range now {
						took := 100 * (1 + noise*r.Float64())
						if rank == slow && pass == 0 && noise > 0 {
							took *= 1.5
						}
						f.add(rank, 1, "cpu_op", op, now[rank], now[rank]+took, nil)
						now[rank] += took
					}
					if world && pass+n == 0 {
						reduce(10, all)
					}
					if pass == 0 {
						reduce(20, tensor...)
					}
				}
			}
			reduce(30, data...)
			for rank := range now {
				f.add(rank, 1, "user_annotation", "Optimizer.step#SGD.step", now[rank], now[rank]+20, nil)
				now[rank] += 20
				f.add(rank, 1, "user_annotation", fmt.Sprintf("ProfilerStep#%d", s), begins[rank], now[rank], nil)
				now[rank]++
			}
		}
		doc, err := ofProfiles(t, f.write(t))
		if err != nil {
			return err
		}
		if w := &doc.ByWorker[0]; w.Rank != slow || w.Pattern == "" || doc.DPRanks != 2 || doc.TPRanks != 2 || w.DP != 1 || *w.TP != 0 {
			t.Errorf("%+v of %d × %d", w, doc.DPRanks, doc.TPRanks)
		}
		for i := range doc.ByWorker[1:] {
			if w := &doc.ByWorker[1+i]; w.Pattern != "" {
				t.Errorf("%+v is not slow", w)
			}
		}
		return nil
	}
	once := slices.Concat([][]int{all}, tensor, data)
	twice := slices.Concat([][]int{all}, data, tensor, data, tensor, data)
	for _, groups := range [][][]int{once, twice} {
		for _, world := range []bool{false, true} {
			if err := run(40, 0.1, world, groups...); err != nil {
				t.Error(len(groups), world, err)
			}
		}
	}
	err, missing := run(1, 0, false, once...), new(stragglers.MissingError)
	if !errors.As(err, &missing) || !strings.Contains(missing.Record, "groups") {
		t.Error(err)
	}
}
