package stragglers_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// TestSlowHosts: rank 1 of two is late since its host is, in each step by 60 µs where it computes for 100 and the reduction takes 20: it
// does something between two steps, or at the end of a step once its work is done, or before it launches the reduction; or nothing names
// steps, which then have a backward pass with two equal reductions. The mean of 100 and 160 and the 20 are a step of equal workers.
func TestSlowHosts(t *testing.T) {
	for _, where := range []string{"between", "inside", "nameless", "launch"} {
		dir := t.TempDir()
		for rank := range 2 {
			write(t, filepath.Join(dir, fmt.Sprintf("rank%d.pt.trace.json", rank)), rank, where)
		}
		doc, err := ofProfiles(t, dir)
		if err != nil {
			t.Fatal(where, err)
		}
		const late = 180.0 / 150
		if doc.Slowdown < 0.95*late || doc.Slowdown > 1.05*late || doc.Slowest[0] != 1 {
			t.Errorf("%s: slowdown %.3f by rank %d, want about %.3f by rank 1", where, doc.Slowdown, doc.Slowest[0], late)
		}
	}
}

// write writes what a profiler records of a rank; times are in µs, those of both ranks in step.
func write(t *testing.T, path string, rank int, late string) {
	var events []map[string]any
	add := func(category, name string, tid int, from, to float64, args map[string]any) {
		pid := 100 + rank
		if category == "kernel" {
			pid = rank
		}
		events = append(events, map[string]any{"ph": "X", "cat": category, "name": name, "pid": pid, "tid": tid, "ts": from, "dur": to - from,
			"args": args})
	}
	launched := 0
	work := func(at, from, to float64, name string, stream int, args map[string]any) {
		launched++
		add("cuda_runtime", "cudaLaunchKernel", 1, at, at+1, map[string]any{"correlation": launched})
		all := map[string]any{"device": rank, "stream": stream, "correlation": launched}
		for k, v := range args {
			all[k] = v
		}
		add("kernel", name, stream, from, to, all)
	}
	reduce := func(at, from, to float64) {
		work(at, from, to, "ncclDevKernel_AllReduce_Sum_f32_RING_LL", 20, map[string]any{"Collective name": "allreduce",
			"In msg nelems": 1000, "Out msg nelems": 1000, "dtype": "Float", "Group size": 2, "Process Group Name": "0",
			"Process Group Description": "default_pg", "Process Group Ranks": "[0, 1]"})
	}
	for n := range 12 {
		begin := 1000 + 180*float64(n)
		from, launch, end := begin, begin+20, begin+179 // of the computation, of the reduction's launch, of both
		switch {
		case rank == 0:
		case late == "launch":
			launch = begin + 160
		default:
			from, launch = begin+60, begin+80
		}
		switch late {
		case "nameless":
		case "inside":
			add("user_annotation", fmt.Sprintf("ProfilerStep#%d", n), 1, from, from+179.5, nil)
		default:
			add("user_annotation", fmt.Sprintf("ProfilerStep#%d", n), 1, from, end+0.5, nil)
		}
		add("cpu_op", "autograd::engine::evaluate_function: MmBackward0", 1, from+10, from+15, nil)
		work(from+1, from+2, from+50, "gemm", 7, nil)
		work(from+11, from+50, from+100, "gemm", 7, nil)
		if late == "nameless" {
			reduce(from+13, from+60, begin+140)
		}
		reduce(launch, max(from+100, launch+1), end)
	}
	data, err := json.Marshal(map[string]any{"schemaVersion": 1, "traceEvents": events, "displayTimeUnit": "ms",
		"distributedInfo": map[string]any{"backend": "nccl", "rank": rank, "world_size": 2}})
	if err == nil {
		err = os.WriteFile(path, data, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}
