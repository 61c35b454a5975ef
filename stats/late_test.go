package stats_test

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tracekit/document/cause"
	"tracekit/merge"
	"tracekit/readers"
	"tracekit/stats"
	"tracekit/stats/analysis"
	"tracekit/stats/statstest"
	"tracekit/trace/tracetest"
)

// onBusyHosts writes what PyTorch records of 4 ranks that train with gloo for 24 steps, 60 ms of work in each, on hosts that disturb them:
// each rank takes up to 12 ms longer in every step. Rank 1 takes 20 ms longer from step 12 on. More is what
// a rank takes longer in a step, after how much later it is in an evaluation behind the last step, of
// which only the reduction is recorded, in ms.
func onBusyHosts(t *testing.T, more func(rank, step int) float64, after func(rank int) float64) string {
	const ranks, steps = 4, 24
	random := rand.New(rand.NewPCG(1, 2))
	var files [ranks]strings.Builder
	add := func(rank, thread int, category, name string, from, to float64) {
		fmt.Fprintf(&files[rank], `{"ph":"X","cat":%q,"name":%q,"pid":%d,"tid":%d,"ts":%.3f,"dur":%.3f,"args":{}},
`, category, name, 100+rank, thread, 1e3*from, 1e3*(to-from))
	}
	now := 1.0
	// together lets ranks work and then reduce.
	together := func(recorded bool, work [ranks]float64) {
		last := now + slices.Max(work[:])
		for r, w := range work {
			if recorded {
				add(r, 1, "cpu_op", "aten::mm", now, now+w/2)
				add(r, 1, "cpu_op", "autograd::engine::evaluate_function: MmBackward0", now+w/2, now+w)
			}
			add(r, 1, "cpu_op", "c10d::allreduce_", now+w, now+w+0.1)
			add(r, 2, "user_annotation", "gloo:all_reduce", now+w+0.05, last+0.5)
		}
		now = last + 0.5
	}
	for s := range steps {
		var work [ranks]float64
		for r := range work {
			work[r] = 60 + 12*random.Float64() + more(r, s)
			if r == 1 && s >= 12 {
				work[r] += 20
			}
		}
		begin := now
		together(true, work)
		for r := range files {
			add(r, 1, "user_annotation", "Optimizer.step#SGD.step", now, now+2)
			add(r, 1, "cpu_op", "aten::add_", now+0.1, now+1.9)
			add(r, 1, "user_annotation", fmt.Sprintf("ProfilerStep#%d", s), begin, now+2)
		}
		now += 2
	}
	var work [ranks]float64
	for r := range work {
		work[r] = 20 + after(r)
	}
	together(false, work)
	dir := t.TempDir()
	for r := range files {
		tracetest.WriteFile(t, filepath.Join(dir, fmt.Sprintf("rank%d.json", r)), fmt.Sprintf(`{"schemaVersion":1,
"baseTimeNanoseconds":1700000000000000000,"distributedInfo":{"backend":"gloo","rank":%d,"world_size":%d,
"pg_config":[{"pg_name":"0","backend_config":"cpu:gloo","ranks":[0,1,2,3]}]},"traceEvents":[
%s]}`, r, ranks, strings.TrimSuffix(files[r].String(), ",\n")))
	}
	return dir
}

// TestLateBesideSlow: where one rank is slow, that others wait for it is no second cause, nor is what busy hosts make ranks wait for all of
// them. Another rank is one that comes late outside of the steps, unless another cause says so. So is one that has most to do in nearly all
// steps, though few short ones hide that from means.
func TestLateBesideSlow(t *testing.T) {
	none, often := func(int, int) float64 { return 0 }, func(r, s int) float64 {
		switch {
		case r != 2:
			return 0
		case s%8 == 3:
			return -45
		}
		return 10
	}
	for name, c := range map[string]struct {
		more  func(rank, step int) float64
		after float64 // of rank 3
		want  []string
	}{
		"alone":      {none, 0, []string{"Rank 1 is slow since step 12"}},
		"little":     {none, 10, []string{"Rank 1 is slow since step 12"}},
		"evaluation": {none, 30, []string{"Rank 1 is slow since step 12", "Rank 3 comes late to communication outside of steps"}},
		"told":       {none, 200, []string{"Rank 1 is slow since step 12", "Rank 3 is slow in code outside recorded functions"}},
		"often":      {often, 0, []string{"Rank 1 is slow since step 12", "Rank 2 comes late to communication"}},
	} {
		t.Run(name, func(t *testing.T) {
			dir := onBusyHosts(t, c.more, func(r int) float64 { return c.after * float64(r/3) })
			src, err := readers.Open(t.Context(), dir, readers.OpenOptions{})
			if err != nil {
				t.Fatal(err)
			}
			defer src.Close()
			a, err := stats.Analyze(t.Context(), statstest.Merged(t, src, merge.Options{}), analysis.Options{}, true)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, x := range a.Diagnosis {
				got = append(got, x.Headline)
			}
			if !slices.Equal(got, c.want) {
				t.Fatalf("causes are %q, want %q", got, c.want)
			}
			if slow := a.Diagnosis[0]; slow.WaitsCausedNs == 0 || !strings.Contains(slow.Text, "Other ranks wait") {
				t.Errorf("what others wait for it is missing: %+v", slow)
			}
			if i := slices.IndexFunc(a.Diagnosis, func(x cause.Cause) bool { return strings.HasSuffix(x.Headline, "outside of steps") }); i >= 0 {
				if ns := a.Diagnosis[i].WaitsCausedNs; ns < 80e6 || ns > 100e6 || a.Diagnosis[i].Ranks[0] != 3 {
					t.Errorf("three ranks wait 30 ms for rank 3, but %+v", a.Diagnosis[i])
				}
			}
		})
	}
}
