package test

import (
	"path/filepath"
	"testing"
)

// TestFirstViewIsOfWork: of a run in which devices work for a moment, that is what is shown at first; the whole run is a click away.
func TestFirstViewIsOfWork(t *testing.T) {
	dir := t.TempDir()
	writeFile(t, filepath.Join(dir, "trace.json"), `{"traceEvents": [
{"ph": "X", "cat": "cpu_op", "name": "wait", "pid": 1, "tid": 1, "ts": 0, "dur": 9000000},
{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1, "ts": 9000100, "dur": 10, "args": {"correlation": 1}},
{"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 7, "ts": 9000200, "dur": 500, "args": {"device": 0, "stream": 7, "correlation": 1}}]}`)
	succeed(t, dir, "report", "trace.json", "-o", "trace.html")
	b := browse(t, "file://"+filepath.Join(dir, "trace.html"))
	b.until(`[...document.querySelectorAll(".keys button")].find(e => e.innerText === "Whole run").disabled`, "false")
	b.until(`(c => c.getContext("2d").getImageData(0, 17, c.width, 1).data.findIndex((v, i) => i % 4 === 3 && v > 0) / 4 / c.width > 0.9)(document.querySelector(".overview canvas"))`, "true")
}
