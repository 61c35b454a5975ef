package test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// TestTwoRunsInBrowser: of a program and of the same with a planted imbalance, the page names what
// changed, and shows both on one axis of time.
func TestTwoRunsInBrowser(t *testing.T) {
	dir := made(t, "generate halo --ranks 8 --iterations 20 -o a", "generate halo --ranks 8 --iterations 20 --imbalance 20000 -o b",
		"report a b -o ab.html")
	b := browse(t, "file://"+filepath.Join(dir, "ab.html"))
	first := b.eval(`document.querySelector("[aria-label='What changed'] li").innerText`)
	for _, want := range []string{"own time", "interior", "rank 7", "+400 µs"} {
		if !strings.Contains(first, want) {
			t.Errorf("the first change is %q, it has not %q", first, want)
		}
	}
	b.until(timelineHigh, "true")
	b.run(chromedp.Click("[aria-label='What changed'] li button"))
	b.until(`document.querySelector("[aria-label='What changed'] button").getAttribute("aria-pressed")`, "true")
	b.until(`document.querySelectorAll(".scroller canvas").length`, "2")

	// Moving one of the timelines moves both.
	shown := `[...document.querySelectorAll(".scroller canvas")].map(c => c.ariaLabel.match(/from (.*?)\./)[1]).join(" and ")`
	b.until(`(s => s.split(" and ").every((x, i, all) => x === all[0]))(`+shown+`)`, "true")
	b.run(chromedp.Focus(".companion canvas"), chromedp.KeyEvent("ww"))
	b.until(`new URLSearchParams(location.hash.slice(1)).get("from") > 1000`, "true")
	b.until(`(s => s.split(" and ").every((x, i, all) => x === all[0]))(`+shown+`)`, "true")
	b.run(chromedp.KeyEvent(kb.Home))

	// The page is about the other run when that is chosen.
	b.run(chromedp.Click("[role=radiogroup] label:nth-child(2) input"))
	b.until(`document.querySelector("header label:has(input:checked)").innerText.trim().startsWith("B b ")`, "true")
	b.until(`document.querySelector("h1").innerText + " = " + document.title`, "2 runs = a and b")
	b.until(`document.querySelector(".causes li").innerText.includes("interior")`, "true")
	// Of a call path stands beside its time what it takes in the other run, and by rank how they differ.
	b.until(`[...document.querySelectorAll("#panel th")].map(e => e.innerText.trim()).join()`,
		"Call path,Inclusive,Share,Exclusive,In A,B − A,Waiting")
	b.until(cellOf+`("main", 5).startsWith("+")`, "true")
	b.until(`document.querySelector(".ranks .value small").innerText.trim().startsWith("+")`, "true")
	// Flame graph and map have the colors of the difference: interior takes longer here.
	b.run(chromedp.Evaluate(`location.hash = "run=1&shape=flame&grid=-2"`, nil))
	const red = `(c => Number(c.match(/\d+/)[0]))`
	b.until(red+`(getComputedStyle(document.querySelector(".flame button[title^='interior:']")).backgroundColor) > 200`, "true")
	b.until(`document.querySelector(".flame button[title^='interior:']").title.includes("; B − A: +")`, "true")
	b.until(`document.querySelectorAll("#panel .scale").length + " " + document.querySelector("#panel .scale").innerText.startsWith("B − A:")`,
		"2 true")
	b.run(chromedp.Evaluate(`location.hash = "run=1&shape=flame&grid=-2&difference=false"`, nil))
	b.until(red+`(getComputedStyle(document.querySelector(".flame button[title^='interior:']")).backgroundColor) < 200`, "true")
	b.run(chromedp.Click("#tab-compare"))
	b.until(`document.querySelector("#panel caption").innerText`, "Efficiencies, MPI_Init to MPI_Finalize (threads: whole run)")
	b.run(chromedp.Evaluate(`scrollTo(0, 0)`, nil))
	time.Sleep(100 * time.Millisecond) // the next frame is drawn
	var shot []byte
	b.run(chromedp.CaptureScreenshot(&shot))
	looks(t, "testdata/page-runs.png", shot)
}

// TestFoldersInBrowser: folders of the files of ranks are runs beside one another, each of which its page is about when it is chosen.
func TestFoldersInBrowser(t *testing.T) {
	job := "generate training --dp 2 --pp 2 --micro-batches 4 --iterations 12 --profiles --slow-worker 3=%s -o %s"
	dir := made(t, fmt.Sprintf(job, "1.1", "a"), fmt.Sprintf(job, "1.5", "b"), "report a b -o ab.html")
	b := browse(t, "file://"+filepath.Join(dir, "ab.html"))
	b.until(`document.querySelector("h1").innerText + ", " + document.querySelectorAll(".scroller canvas").length`, "2 runs, 2")
	b.until(`[...document.querySelectorAll("header [role=radiogroup] label")].map(e => e.innerText.includes("rank0.pt.trace.json and 3 more")).join()`, "true,true")
	b.until(`/waiting|own time/.test(document.querySelector("[aria-label='What changed'] li").innerText)`, "true")
	b.until(`/ in [(-]/.test(document.querySelector("[aria-label='What changed']").innerText)`, "false") // no place is without a name
	// % that rank 3 computes longer, about
	for k, longer := range []string{"9.", "48."} {
		b.run(chromedp.Click(fmt.Sprintf("[role=radiogroup] label:nth-child(%d) input", k+1)))
		b.until(`document.querySelector("[aria-label=Diagnosis] li").innerText.includes("Rank 3 is always slow")`, "true")
		b.until(`document.querySelector("[aria-label=Evidence]").innerText.includes("It computes `+longer+`")`, "true")
	}
}

// TestRebuiltInBrowser: a trace that was rebuilt from formulae stands beside the one they were
// learnt from.
func TestRebuiltInBrowser(t *testing.T) {
	dir := made(t, "generate halo --ranks 4 --iterations 20 -o a", "compress --mode stat a -o a.tkf", "report a a.tkf -o both.html")
	b := browse(t, "file://"+filepath.Join(dir, "both.html"))
	b.run(chromedp.Evaluate(`location.hash = "run=1&tab=compare"`, nil))
	b.until(`document.querySelector("header").innerText.includes("rebuilt from statistics")`, "true")
	b.until(`document.querySelector("#panel p").innerText.includes("a.tkf, rebuilt")`, "true")
	b.until(`document.querySelectorAll(".scroller canvas").length`, "2")
}

// TestScalingInBrowser: of runs of three sizes, the page has what scaling says.
func TestScalingInBrowser(t *testing.T) {
	var commands []string
	for _, ranks := range []int{2, 4, 8} {
		commands = append(commands, fmt.Sprintf("generate halo --ranks %d --iterations 20 -o r%d", ranks, ranks))
	}
	dir := made(t, append(commands, "report r2 r4 r8 -o sizes.html")...)
	b := browse(t, "file://"+filepath.Join(dir, "sizes.html"))
	b.until(`document.querySelector("[role=tab][aria-selected=true]").id`, "tab-scaling")
	b.until(`document.querySelector("#panel").getBoundingClientRect().top < document.querySelector(".scroller canvas").getBoundingClientRect().top`,
		"true")
	b.until(`document.querySelector("#panel p").innerText`, "3 runs of 3 sizes: weak scaling (found from the work that they do).")
	b.until(`document.querySelectorAll("#panel svg[role=img]").length`, "2")
	b.until(`[...document.querySelectorAll("#panel th")].slice(1, 4).map(e => e.innerText.trim()).join()`, "2,4,8")
	b.until(`[...document.querySelectorAll("#panel caption")].filter(e => /overhead/i.test(e.innerText)).length`, "2")
	b.until(`[...document.querySelectorAll("#panel table")].at(-1).querySelector("tbody tr").innerText.includes("halo.c:")`, "true")
	var shot []byte
	b.run(chromedp.ScrollIntoView("#panel"), chromedp.CaptureScreenshot(&shot))
	looks(t, "testdata/page-scaling.png", shot)
}

// TestViewOfTwoRuns: the viewer serves both timelines, and each finer where it is asked to.
func TestViewOfTwoRuns(t *testing.T) {
	dir := made(t, "generate halo --ranks 16 --iterations 30 -o a", "generate halo --ranks 16 --iterations 30 --late-sender 9000 -o b")
	address := serve(t, filepath.Join(dir, "a"), filepath.Join(dir, "b"))
	b := browse(t, address)
	b.until(`document.querySelectorAll(".scroller canvas").length`, "2")
	for _, path := range []string{"", "1/"} {
		b.run(chromedp.Evaluate(`fetch("`+path+
			`tile?from=0&to=100000&steps=100").then(async r => { document.title = r.status + " " + ((await r.arrayBuffer()).byteLength > 100) })`,
			nil))
		b.until(`document.title`, "200 true")
	}
}
