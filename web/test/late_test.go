package test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestLateRankIsShown: of a rank that comes 300 µs late to each of three collectives, the cause leads to a wait of the others, with that
// rank on top, and not to any stretch in which nothing is recorded.
func TestLateRankIsShown(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "job"), 0o755); err != nil {
		t.Fatal(err)
	}
	for rank := range 3 {
		var events []string
		add := func(cat, name string, pid, tid, from, duration int, more string) {
			events = append(events, fmt.Sprintf(`{"ph": "X", "cat": %q, "name": %q, "pid": %d, "tid": %d, "ts": %d, "dur": %d, "args": {%s}}`,
				cat, name, pid, tid, from, duration, more))
		}
		for k := range 3 {
			at := 1000 * k
			if rank == 2 {
				at += 300
			}
			add("cpu_op", "work", rank+1, 1, at, 100, "")
			add("cuda_runtime", "cudaLaunchKernel", rank+1, 1, at+50, 5, fmt.Sprintf(`"correlation": %d`, 2*k+1))
			add("kernel", "gemm", 0, 7, at+60, 40, fmt.Sprintf(`"device": %d, "stream": 7, "correlation": %d`, rank, 2*k+1))
			add("cuda_runtime", "cudaLaunchKernel", rank+1, 1, at+101, 5, fmt.Sprintf(`"correlation": %d`, 2*k+2))
			add("kernel", "ncclDevKernel_AllReduce_Sum_f32_RING_LL", 0, 20, at+110, 1000*k+450-at-110, fmt.Sprintf(
				`"device": %d, "stream": 20, "correlation": %d, "Collective name": "allreduce", "Process Group Name": "0", "Group size": 3`,
				rank, 2*k+2))
		}
		writeFile(t, filepath.Join(dir, "job", fmt.Sprintf("rank%d.json", rank)), fmt.Sprintf(
			`{"baseTimeNanoseconds": 1, "distributedInfo": {"rank": %d, "world_size": 3}, "traceEvents": [%s]}`, rank, strings.Join(events, ",\n")))
	}
	succeed(t, dir, "report", "job", "-o", "job.html")
	b := browse(t, "file://"+filepath.Join(dir, "job.html"))
	b.until(`[...document.querySelectorAll(".causes button")].filter(e => e.innerText.includes("Rank 2 comes late to collectives")).map(e => e.click()).length`, "1")
	const dock = `document.querySelector(".dock").innerText.replace(/\s+/g, " ")`
	b.until(dock+`.includes("1 of 6: 300 µs")`, "true")
	b.until(dock+`.includes("to blame rank 2 waiting rank 0, stream 20, rank 1, stream 20 ")`, "true")
}
