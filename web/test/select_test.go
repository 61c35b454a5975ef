package test

import (
	"path/filepath"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// A process of 100 ms with an accelerator of two streams: a kernel from 10 to 40 ms, a copy beside
// it from 30 to 50, a collective from 60 to 80 ms.
const deviceCalls = `{"traceEvents":[{"ph":"M","name":"process_labels","pid":0,"tid":0,"args":{"labels":"GPU 0"}},
	{"ph":"X","cat":"cpu_op","pid":7,"tid":7,"ts":0,"dur":100000,"name":"aten::mm"},
	{"ph":"X","cat":"kernel","pid":0,"tid":7,"ts":10000,"dur":30000,"name":"gemm","args":{"device":0,"stream":7}},
	{"ph":"X","cat":"gpu_memcpy","pid":0,"tid":8,"ts":30000,"dur":20000,"name":"Memcpy HtoD","args":{"device":0,"stream":8}},
	{"ph":"X","cat":"kernel","pid":0,"tid":8,"ts":60000,"dur":20000,"name":"ncclDevKernel_AllReduce","args":{"device":0,"stream":8}}]}`

// rowsOf returns the cells of the k-th table as text.
const rowsOf = `(k => [...[...document.querySelectorAll("#panel table")][k].querySelectorAll("tbody tr")].map(r => [...r.cells].map(c => c.innerText.trim()).join()).join(" | "))`

// A process that opens a file for 10 ms, and later reads from it for 40.
const fileCalls = `{"id":1,"name":"FH","cat":"dftracer","pid":1,"tid":1,"ph":"M","args":{"name":"/data","value":7}}
{"id":2,"name":"open","cat":"POSIX","pid":1,"tid":1,"ts":0,"dur":10000,"ph":"X","args":{"fhash":7}}
{"id":3,"name":"read","cat":"POSIX","pid":1,"tid":1,"ts":20000,"dur":40000,"ph":"X","args":{"fhash":7,"ret":4096}}`

// TestSelectionRestrictsParts: devices and files of a selected time are those of the calls in it.
func TestSelectionRestrictsParts(t *testing.T) {
	dir := t.TempDir()
	selected := func(tab, calls, end string) *browser { // from 25 ms on
		writeFile(t, filepath.Join(dir, tab+".json"), calls)
		succeed(t, dir, "report", tab+".json", "-o", tab+".html")
		b := browse(t, "file://"+filepath.Join(dir, tab+".html"))
		b.run(chromedp.Evaluate(`location.hash = "tab=`+tab+`&from=25000000&to=`+end+`"`, nil))
		b.until(`document.querySelector("[role=tab][aria-selected=true]")?.id`, "tab-"+tab)
		b.run(chromedp.Focus(".scroller canvas"), chromedp.KeyEvent(kb.Enter))
		b.until(`document.querySelector("#panel .selected") != null`, "true")
		return b
	}
	b := selected("files", fileCalls, "60000000")
	b.until(rowsOf+"(0)", "read,35.0 ms")
	b = selected("devices", deviceCalls, "75000000")
	b.until(rowsOf+"(0)", "rank 0, GPU 0,40.0 ms 80.0 %,15.0 ms 30.0 %,15.0 ms 30.0 %,10.0 ms 20.0 %,10.0 ms 20.0 %")
	b.until(rowsOf+"(1)", "Memcpy HtoD,20.0 ms | gemm,15.0 ms | ncclDevKernel_AllReduce,15.0 ms")
}

// TestSelectedThreads: if all of the run is selected, threads spend as long in MPI and at barriers
// as in the run, and a row sums to it.
func TestSelectedThreads(t *testing.T) {
	dir := made(t, "generate halo --ranks 4 --threads 3 --iterations 20 --imbalance 20000 -o hybrid", "report hybrid -o hybrid.html")
	b := browse(t, "file://"+filepath.Join(dir, "hybrid.html"))
	const columns = `(names => { const table = document.querySelector("#panel table"), at = [...table.tHead.rows[0].cells].map(c => c.innerText.replace(/ [▴▾]$/, ""))
		return [...table.tBodies[0].rows].map(r => names.map(n => r.cells[at.indexOf(n)].innerText.trim().replace(", Master thread", "")).join()).sort().join(" | ") })(["Thread", "MPI", "Barriers"])`
	b.run(chromedp.Evaluate(`location.hash = "tab=threads"`, nil))
	b.until(`document.querySelector("#panel caption")?.innerText`, "Threads")
	whole := b.eval(columns)
	b.run(chromedp.Focus(".scroller canvas"), chromedp.KeyEvent(kb.Home), chromedp.KeyEvent(kb.Enter))
	b.until(`document.querySelector("#panel caption")?.innerText.startsWith("Threads in the selected time")`, "true")
	b.until(columns, whole)
}
