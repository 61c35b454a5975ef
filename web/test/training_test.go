package test

import (
	"compress/flate"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/chromedp"
)

// job is what the document says of a training job.
type job struct {
	Trace    struct{ Start_ns float64 }
	Training struct {
		Slowdown  float64
		By_worker []struct {
			Rank     int
			Slowdown float64
			Pattern  string
		}
		By_step []struct {
			Step             int
			Slowdown, Excess float64
			Rank             int
			From_ns, To_ns   float64
		}
	}
}

// TestTraining: of each training job, the slow worker is named first; a click on it shows a step in which it is slow, its row on top;
// figures are those of the document; steps, workers and micro-batches are chosen by keys.
func TestTraining(t *testing.T) {
	dir := made(t, "generate training --dp 3 --pp 4 --micro-batches 6 --slow-worker 7=1.5@8 --iterations 20 -o job", "report job -o job.html",
		"generate training --dp 2 --pp 2 --tp 2 --micro-batches 4 --slow-worker 2=1.5@8 --iterations 20 --profiles -o profiles",
		"report profiles -o profiles.html")
	pages := []string{"job", "profiles"}
	if shared := os.Getenv("TRACEKIT_SHARED"); shared != "" {
		for _, name := range []string{"AR", "ST"} {
			succeed(t, dir, "report", filepath.Join(shared, "traces", "training", "trace-"+name+".parquet"), "-o", name+".html")
			pages = append(pages, name)
		}
	}
	for _, name := range pages {
		t.Run(name, func(t *testing.T) { trains(t, filepath.Join(dir, name+".html")) })
	}
}

func trains(t *testing.T, path string) {
	var doc job
	if err := json.NewDecoder(flate.NewReader(base64.NewDecoder(base64.StdEncoding, documentOf(t, path)))).Decode(&doc); err != nil {
		t.Fatal(err)
	}
	of, b := &doc.Training, browse(t, "file://"+path)
	worst := of.By_worker[0]
	slow := worst.Pattern != "" && worst.Slowdown >= 1.01 // so that it is a cause
	b.until(`document.querySelector(".steps [role=status]").innerText.endsWith("slowdown `+fmt.Sprintf("%.3f", of.Slowdown)+`")`, "true")
	if slow {
		b.until(fmt.Sprintf(`/ Rank %d is (slow|always slow) ?/.test(document.querySelector(".causes button").innerText.replace(/\s+/g, " "))`,
			worst.Rank), "true")
	}
	cell := fmt.Sprintf(`[...document.querySelectorAll("[role=gridcell]")].find(e => e.ariaLabel.startsWith("rank %d ("))`, worst.Rank)
	b.until(cell+fmt.Sprintf(`.ariaLabel.includes("): %.3f")`, worst.Slowdown), "true")
	b.run(chromedp.Evaluate(cell+".click()", nil))
	b.until(`document.querySelector(".steps [role=status]").innerText.startsWith("Step ")`, "true")
	var at int
	b.run(chromedp.Evaluate(`Number(document.querySelector("[role=slider]").ariaValueNow)`, &at))
	s := of.By_step[at]
	for i, other := range of.By_step {
		if other.Rank == worst.Rank && other.Excess > s.Excess && s.Rank == worst.Rank {
			t.Errorf("rank %d is shown in step %d, in which it takes %.3f more than its peers; in step %d it is %.3f", worst.Rank, at, s.Excess, i,
				other.Excess)
		}
	}
	b.until(`document.querySelector(".steps [role=status]").innerText.includes(", slowdown `+fmt.Sprintf("%.3f; slowest: rank %d,", s.Slowdown,
		s.Rank)+`")`, "true")
	from := func(s int) string { return fmt.Sprintf("%.0f", max(0, of.By_step[s].From_ns-doc.Trace.Start_ns)) }
	const shown = `(k => new URLSearchParams(location.hash.slice(1)).get(k) ?? "0")`
	b.until(shown+`("from") === "`+from(at)+`" && `+shown+`("to") === "`+fmt.Sprintf("%.0f", s.To_ns-doc.Trace.Start_ns)+`"`, "true")
	b.run(chromedp.Evaluate(`(b => document.querySelector(".scroller canvas").dispatchEvent(new PointerEvent("pointermove", { bubbles: true, pointerId: 1, clientX: b.left + 300, clientY: b.top + 37 })))(document.querySelector(".scroller canvas").getBoundingClientRect())`, nil))
	b.until(fmt.Sprintf(`/rank %d\b/.test(document.querySelector(".tooltip").innerText)`, worst.Rank), "true")

	// Where the worker is a cause, it is the one that is chosen, and the evidence is its own, also after another cause was chosen.
	if slow {
		press := func(line string) { b.run(chromedp.Evaluate(`document.querySelector("`+line+`").click()`, nil)) }
		const worker, last = ".causes li:first-child button", ".causes li:last-child button"
		press(last)
		press(worker)
		b.until(`document.querySelectorAll(".causes [aria-pressed=true]").length === 1 && document.querySelector("`+worker+
			`").ariaPressed === "true"`, "true")
		b.until(`document.querySelector(".evidence").innerText.includes("longer than its peers")`, "true")
		press(last)
		b.until(`document.querySelectorAll(".causes [aria-pressed=true]").length === 1 && document.querySelector("`+last+
			`").ariaPressed === "true"`, "true")
		press(worker)
	}

	// Keys: the slider goes through steps, arrows through workers, Enter chooses one.
	press := func(on, key string) {
		t.Helper()
		b.run(chromedp.Evaluate(`(e => { e.focus(); e.dispatchEvent(new KeyboardEvent("keydown", { key: "`+key+
			`", bubbles: true, cancelable: true })) })(`+on+`)`, nil))
	}
	press(`document.querySelector("[role=slider]")`, "Home")
	b.until(`document.querySelector("[role=slider]").ariaValueNow`, "0")
	b.until(shown+`("from")`, from(0))
	press(`document.querySelector("[role=slider]")`, "ArrowRight")
	b.until(`document.querySelector("[role=slider]").ariaValueNow`, "1")
	first := `document.querySelectorAll("[role=gridcell]")[0]`
	press(first, "ArrowRight")
	b.until(`document.activeElement === document.querySelectorAll("[role=gridcell]")[1]`, "true")
	press(`document.activeElement`, "ArrowLeft")
	b.until(`document.activeElement === `+first, "true")

	// One micro-batch: the others are pale.
	b.run(chromedp.Evaluate(`(s => { s.value = s.options[1].value; s.dispatchEvent(new Event("change", { bubbles: true })) })([...document.querySelectorAll(".pipeline select")].at(-1))`, nil))
	b.until(`(all => { const lit = all.filter(e => !e.matches(".other")); return lit.length > 0 && lit.length < all.length && new Set(lit.map(e => e.innerText)).size })([...document.querySelectorAll(".lane i")])`, "1")
}
