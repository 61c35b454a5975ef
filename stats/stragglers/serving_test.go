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

// serving writes what PyTorch records of ranks that serve a model without annotations: layers of a kernel that computes, longer on rank 2
// by a factor, and one that reduces over a group. A host launches all layers of a step at once and waits for the last one.
func serving(t *testing.T, kernel, groups string, factor float64) string {
	const ranks, steps, layers, computing, reducing = 4, 8, 16, 60.0, 12.0
	dir := t.TempDir()
	var files [ranks]strings.Builder
	var ready [ranks]float64 // µs, of the device
	now, id := 1e6, 0
	for range steps {
		for r := range ready {
			ready[r] = now + 150
		}
		for l := range layers {
			latest := 0.0
			var began [ranks]float64
			for r := range ready {
				work := computing
				if r == 2 {
					work *= factor
				}
				began[r], ready[r] = ready[r], ready[r]+work
				latest = max(latest, ready[r])
			}
			for r := range ready {
				for k, name := range []string{"gemm", kernel} {
					start, end := began[r], ready[r]
					if k == 1 {
						start, end = ready[r], latest+reducing
					}
					id++
					fmt.Fprintf(&files[r], `{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":%d,"tid":9,"ts":%.3f,"dur":2,"args":{"correlation":%d}},
`, 1000+r, now+float64(4*(2*l+k)), id)
					fmt.Fprintf(&files[r], `{"ph":"X","cat":"kernel","name":%q,"pid":0,"tid":7,"ts":%.3f,"dur":%.3f,"args":{"device":0,"stream":7,"correlation":%d}},
`, name, start, end-start, id)
				}
				ready[r] = latest + reducing
			}
		}
		for r := range ready {
			fmt.Fprintf(&files[r], `{"ph":"X","cat":"cuda_runtime","name":"cudaStreamSynchronize","pid":%d,"tid":9,"ts":%.3f,"dur":%.3f},
`, 1000+r, now+8*layers, ready[r]-now-8*layers)
		}
		now = ready[0] + 20
	}
	for r := range files {
		tracetest.WriteFile(t, filepath.Join(dir, fmt.Sprintf("host_%d.pt.trace.json", r)), []byte(fmt.Sprintf(`{"schemaVersion":1,
"distributedInfo":{"backend":"nccl","rank":%d,"world_size":%d,"pg_config":[%s]},"baseTimeNanoseconds":1700000000000000000,"traceEvents":[
%s]}`, r, ranks, groups, strings.TrimSuffix(files[r].String(), ",\n"))))
	}
	return dir
}

const allRanks = `{"pg_name":"0","pg_desc":"default_pg","ranks":[0,1,2,3]}, {"pg_name":"2","pg_desc":"undefined","ranks":[0,1,2,3]}`

// TestServing states that steps may end with a collective, behind which the host has launched the next one long before, and that kernels
// may reach into the memory of other devices: the slow rank computes longer by what was planted.
func TestServing(t *testing.T) {
	for _, kernel := range []string{"ncclDevKernel_AllReduce_Sum_f16_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
		"void vllm::cross_device_reduce_1stage<__half, 4>(vllm::RankData*, vllm::RankSignals, vllm::Signal*, __half*, int, int)"} {
		job, err := ofProfiles(t, serving(t, kernel, allRanks, 1.5))
		if err != nil {
			t.Fatal(err)
		}
		for _, w := range job.ByWorker {
			want := ""
			if w.Rank == 2 {
				want = training.SlowAlways
			}
			if w.Pattern != want {
				t.Errorf("%.20s: rank %d is %q, want %q", kernel, w.Rank, w.Pattern, want)
			}
		}
		if saved := job.StepNs - job.MendedNs; math.Abs(float64(saved)-30e3) > 1e3 {
			t.Errorf("%.20s: with an equal rank a step is %v ns shorter, want 30,000", kernel, saved)
		}
	}
}

// TestGroupsOfKernels states that nobody is blamed where kernels do not say in which of several groups they communicate.
func TestGroupsOfKernels(t *testing.T) {
	dir := serving(t, "ncclDevKernel_AllReduce_Sum_f16_RING_LL(ncclDevKernelArgsStorage<4096ul>)", allRanks+
		`, {"pg_name":"3","ranks":[0,1]}, {"pg_name":"4","ranks":[2,3]}`, 1.5)
	if job, err := ofProfiles(t, dir); err == nil {
		t.Errorf("a job: %+v", job.ByWorker)
	}
}
