package xplane

import (
	"flag"
	"path/filepath"
	"slices"
	"testing"

	"tracekit/readers/internal/recording"
	"tracekit/trace/tracetest"
)

var update = flag.Bool("update", false, "write the goldens, and the profiles that they are of")

// run are small profiles of two hosts: written says what is in them.
const run = "testdata/run"

// written returns the profile of a host: three steps, each of which launches two kernels and a copy. The
// last kernel is a collective.
func written(host int) []byte {
	const us = 1_000_000 // ps
	h := newWriter("/host:CPU")
	d := newWriter("/device:GPU:0")
	var python, runtime, kernels, copies, steps [][]byte
	for step := range 3 {
		at := 300 * step * us
		python = append(python, h.event("train", at, 290*us, "step_num", step), h.event("$train.py:20 update", at+us, 40*us))
		for i, work := range []string{"loop_fusion_2.kd", "MemcpyD2H", "ncclDevKernel_AllReduce_Sum_f32_RING_LL"} {
			id := 10*step + i + 1
			launch, begin := at+(5+8*i)*us, at+(30+60*i)*us
			call := []string{"hipModuleLaunchKernel", "hipMemcpyAsync", "hipExtModuleLaunchKernel"}[i]
			runtime = append(runtime, h.event(call, launch, 3*us, "correlation_id", id))
			switch i {
			case 1:
				copies = append(copies, d.event(work, begin, 40*us, "correlation_id", id,
					"memcpy_details", "kind_src:device kind_dst:pinned size:65536 dest:0 async:1"))
			default:
				kernels = append(kernels, d.event(work, begin, 50*us, "correlation_id", id,
					"hlo_op", []string{"loop_fusion.2", "", "all-reduce.1"}[i]))
			}
		}
		runtime = append(runtime, h.event("hipStreamSynchronize", at+40*us, 165*us))
		steps = append(steps, d.event("step", at+30*us, 170*us))
	}
	h.line("python3", 5_000, python...)
	h.line("Host Threads/4711", 5_000, runtime...)
	d.line("Stream #3(Kernel)", 5_000, kernels...)
	d.line("Stream #3(MemcpyD2H)", 5_000, copies...)
	d.line("Steps", 5_000, steps...)
	d.stat("device_memory", 1<<36)
	task := newWriter("Task Environment")
	task.stat("profile_start_time", 1_780_000_000_000_000_000+2_000*host)
	return slices.Concat(d.plane(), h.plane(), task.plane(), message(spaceHost, []string{"node0", "node1"}[host]))
}

// TestGolden states what becomes of all that profiles hold.
func TestGolden(t *testing.T) {
	opener.Run(t, run, "testdata/run.txt", [2]string{"worker0.xplane.pb", "worker1.xplane.pb"}, written, *update)
}

// BenchmarkRead measures how fast events become tables, in bytes of the file.
func BenchmarkRead(b *testing.B) {
	const us = 1_000_000 // ps
	h, d := newWriter("/host:CPU"), newWriter("/device:GPU:0")
	var calls, kernels [][]byte
	for i := range 50_000 {
		calls = append(calls, h.event("hipModuleLaunchKernel", 10*i*us, 3*us, "correlation_id", i+1))
		kernels = append(kernels, d.event("loop_fusion.kd", (10*i+4)*us, 5*us, "correlation_id", i+1, "hlo_op", "loop_fusion.2"))
	}
	h.line("python3", 5_000, calls...)
	d.line("Stream #3(Kernel)", 5_000, kernels...)
	path := filepath.Join(b.TempDir(), "a"+extension)
	data := slices.Concat(h.plane(), d.plane())
	tracetest.WriteFile(b, path, data)
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		s, err := Open(b.Context(), []string{path}, recording.Options{Jobs: 1})
		if err != nil {
			b.Fatal(err)
		}
		s.Close()
	}
}
