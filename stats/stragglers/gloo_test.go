package stragglers_test

import (
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"tracekit/document/training"
	"tracekit/trace/tracetest"
)

// onHosts writes what PyTorch records of ranks that train on CPUs with gloo: steps that nothing but the optimizer tells, an operator in
// which a rank computes, 2 longer than others, and then waits for all.
func onHosts(t *testing.T, groups string) string {
	const ranks, steps, computing, longer, reducing = 4, 12, 1000.0, 500.0, 50.0
	dir := t.TempDir()
	var files [ranks]strings.Builder
	for now, step := 1e6, 0; step < steps; step++ {
		latest := now + computing + longer + reducing
		for r := range files {
			work := computing
			if r == 2 {
				work += longer
			}
			add := func(category, name string, thread int, start, end float64) {
				fmt.Fprintf(&files[r], `{"ph":"X","cat":%q,"name":%q,"pid":%d,"tid":%d,"ts":%.3f,"dur":%.3f,"args":{"Ev Idx":%d}},
`, category, name, 1000+r, thread, start, end-start, step)
			}
			add("cpu_op", "model::forward", 1, now, latest)
			add("cpu_op", "aten::linear", 1, now, now+work)
			add("cpu_op", "c10d::allreduce_", 1, now+work, latest)
			add("user_annotation", "gloo:all_reduce", 2, now+work, latest)
			add("user_annotation", "Optimizer.step#SGD.step", 1, latest+10, latest+110)
			add("cpu_op", "aten::add_", 1, latest+20, latest+100)
		}
		now = latest + 150
	}
	for r := range files {
		tracetest.WriteFile(t, filepath.Join(dir, fmt.Sprintf("host_%d.pt.trace.json", r)), []byte(fmt.Sprintf(`{"schemaVersion":1,
"distributedInfo":{"backend":"gloo","rank":%d,"world_size":%d,"pg_config":[%s]},"baseTimeNanoseconds":1700000000000000000,"traceEvents":[
%s]}`, r, ranks, groups, strings.TrimSuffix(files[r].String(), ",\n"))))
	}
	return dir
}

const ofGloo = `{"pg_name":"0","pg_desc":"default_pg","backend_config":"cpu:gloo","ranks":[0,1,2,3]}`

// TestHosts states that the slow rank of a job of hosts is named with what was planted, although all ranks are as long in the operator
// in which they wait, and that nobody is blamed where gloo does not say which of several groups communicates.
func TestHosts(t *testing.T) {
	job, err := ofProfiles(t, onHosts(t, ofGloo))
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range job.ByWorker {
		want := ""
		if w.Rank == 2 {
			want = training.SlowAlways
		}
		if w.Pattern != want {
			t.Errorf("rank %d is %q, want %q", w.Rank, w.Pattern, want)
		}
	}
	if saved := job.StepNs - job.MendedNs; math.Abs(float64(saved)-500e3) > 10e3 {
		t.Errorf("with an equal rank a step is %v ns shorter, want 500,000", saved)
	}
	_, err = ofProfiles(t, onHosts(t, ofGloo+
		`, {"pg_name":"1","backend_config":"cpu:gloo","ranks":[0,1]}, {"pg_name":"2","backend_config":"cpu:gloo","ranks":[2,3]}`))
	if err == nil || !strings.Contains(err.Error(), "several process groups") {
		t.Errorf("with several groups: %v", err)
	}
}
