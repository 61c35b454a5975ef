package test

import (
	"fmt"
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

// TestHeaderSaysWhatWasRead: the top of the page names the format and the recorder, and its shares have the base of the first screen:
// devices the time from first to last work, files the time of main threads.
func TestHeaderSaysWhatWasRead(t *testing.T) {
	dir := t.TempDir()
	writeFile(t, filepath.Join(dir, "device.json"), `{"traceEvents": [
{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1, "ts": 0, "dur": 10, "args": {"correlation": 1}},
{"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 7, "ts": 500, "dur": 500, "args": {"device": 0, "stream": 7, "correlation": 1}}]}`)
	writeFile(t, filepath.Join(dir, "files.pfw"), `[
{"id":0,"name":"step","cat":"compute","pid":5,"tid":5,"ts":0,"dur":10000000,"ph":"X","args":{}},
{"id":1,"name":"read","cat":"POSIX","pid":5,"tid":5,"ts":100,"dur":1000000,"ph":"X","args":{"ret":4096}},
{"id":2,"name":"read","cat":"POSIX","pid":5,"tid":6,"ts":100,"dur":9900000,"ph":"X","args":{"ret":4096}},
{"id":3,"name":"read","cat":"POSIX","pid":5,"tid":7,"ts":100,"dur":9900000,"ph":"X","args":{"ret":4096}}]`)
	for trace, says := range map[string][]string{
		"device.json": {"device.json JSON 1.00 ms run time", "computing 100.0 %", "50.0 % of the run (1.00 ms) pass before the first or after the last work."},
		"files.pfw":   {"files.pfw JSON 10.0 s run time", "10.0 % of main threads' time in calls on files"},
	} {
		succeed(t, dir, "report", trace, "-o", trace+".html")
		b := browse(t, "file://"+filepath.Join(dir, trace+".html"))
		for _, s := range says {
			b.until(fmt.Sprintf(`document.querySelector("header").innerText.replace(/\s+/g, " ").includes(%q)`, s), "true")
		}
	}
}

// TestLegendIsOfTheRows: the legend has shares of the rows that are shown, here what workers compute, and not of their communication, on
// rows of its own.
func TestLegendIsOfTheRows(t *testing.T) {
	dir := t.TempDir()
	succeed(t, dir, "generate", "training", "--dp", "2", "--pp", "2", "--iterations", "5", "-o", "job.json")
	succeed(t, dir, "report", "job.json", "-o", "job.html")
	b := browse(t, "file://"+filepath.Join(dir, "job.html"))
	const legend = `document.querySelector("section[aria-label=Timeline] .legend").innerText.replace(/\s+/g, " ")`
	b.until(legend+`.startsWith("computing 100.0 %")`, "true")
	b.until(`(e => { e.value = ""; e.dispatchEvent(new Event("change", { bubbles: true })); return `+legend+` })(document.querySelector("select[aria-label='Kind of rows']")).includes("communication")`, "true")
}

// TestBytesNotRecorded: of accesses to files of which nobody recorded the bytes, it is not said that they move none.
func TestBytesNotRecorded(t *testing.T) {
	dir := t.TempDir()
	writeFile(t, filepath.Join(dir, "files.pfw"), `[
{"id":1,"name":"read","cat":"POSIX","pid":5,"tid":5,"ts":100,"dur":1000000,"ph":"X","args":{}}]`)
	succeed(t, dir, "report", "files.pfw", "-o", "files.html")
	b := browse(t, "file://"+filepath.Join(dir, "files.html"))
	b.until(`([...document.querySelectorAll("[role=tab]")].find(e => e.innerText === "Files").click(), document.body.innerText.includes("1 calls on files take 1.00 s over all locations; how many bytes they move is not recorded."))`, "true")
}
