package test

import (
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	pointer "github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// Two processes of 100 ms whose counters are known: load is 3 and then, from 50 ms on, 5 in one,
// always 4 in the other.
const countedCalls = `[{"ph":"X","pid":0,"tid":0,"ts":0,"dur":100000,"name":"alpha"},{"ph":"X","pid":1,"tid":0,"ts":0,"dur":100000,"name":"beta"},
	{"ph":"C","pid":0,"tid":0,"ts":0,"name":"load","args":{"value":3}},{"ph":"C","pid":0,"tid":0,"ts":50000,"name":"load","args":{"value":5}},
	{"ph":"C","pid":1,"tid":0,"ts":0,"name":"load","args":{"value":4}}]`

// curve returns the point of a canvas of curves at shares of its plot and of its lanes.
func (b *browser) curve(x, y float64) (px, py float64) {
	b.t.Helper()
	var box struct{ X, Y, Width, Height float64 }
	b.run(chromedp.ScrollIntoView("canvas.curves"),
		chromedp.Evaluate(`document.querySelector("canvas.curves").getBoundingClientRect().toJSON()`, &box))
	const gutter, margin = 138, 8 // of web/src/canvas.ts
	return box.X + gutter + x*(box.Width-gutter-margin), box.Y + y*box.Height
}

// label finds the choice with a label.
func label(text string) string {
	return `[...document.querySelectorAll("label")].find(l => l.innerText.startsWith("` + text + `")).querySelector("select")`
}

const reading = `document.querySelector("[role=status] .tooltip b")?.innerText`

// TestCountersInBrowser: curves are chosen, and read with the mouse and by keys alone; the timeline
// takes their colors.
func TestCountersInBrowser(t *testing.T) {
	dir := t.TempDir()
	writeFile(t, filepath.Join(dir, "load.json"), countedCalls)
	succeed(t, dir, "report", "load.json", "-o", "load.html")
	b := browse(t, "file://"+filepath.Join(dir, "load.html"))
	choose := func(control, value string) {
		b.run(chromedp.Evaluate(`(s => { s.value = `+"`"+value+"`"+`; s.dispatchEvent(new Event("change", { bubbles: true })) })(`+control+`)`,
			nil))
	}
	name := b.eval(label("Counters") + `.options[1].value`)
	choose(label("Counters"), name)
	b.until(`document.querySelectorAll("canvas.curves").length`, "1")
	for _, c := range []struct {
		x    float64
		want string
	}{{0.3, "7"}, {0.7, "9"}} {
		x, y := b.curve(c.x, 0.5)
		b.run(b.mouse(pointer.MouseMoved, x, y))
		b.until(reading, c.want)
	}
	choose(`document.querySelector(".counter select")`, "rows")
	for _, c := range []struct {
		x, y float64
		want string
	}{{0.3, 0.25, "3"}, {0.7, 0.25, "5"}, {0.7, 0.75, "4"}} {
		x, y := b.curve(c.x, c.y)
		b.run(b.mouse(pointer.MouseMoved, x, y))
		b.until(reading, c.want)
	}
	b.run(b.mouse(pointer.MouseMoved, 5, 5), chromedp.Focus("canvas.curves"), chromedp.KeyEvent(kb.Escape+kb.ArrowLeft))
	b.until(reading, "3")
	b.run(chromedp.KeyEvent(kb.ArrowRight + kb.ArrowRight))
	b.until(reading, "5")
	b.run(chromedp.KeyEvent(kb.ArrowDown))
	b.until(reading, "4")
	choose(label("Colors"), "counter:"+name)
	b.until(`document.querySelectorAll(".legend li").length`, "6")
	b.run(chromedp.KeyEvent(kb.Escape))
	b.until(`new URLSearchParams(location.hash.slice(1)).get("color")`, "counter:"+name)
	var shot []byte
	time.Sleep(100 * time.Millisecond) // the next frame is drawn
	b.run(chromedp.ScrollIntoView(".tools"), chromedp.CaptureScreenshot(&shot))
	looks(t, "testdata/page-counters.png", shot)
}

// TestCountersOfSeveralRuns: the curves of a counter are drawn for each run, one below the other.
func TestCountersOfSeveralRuns(t *testing.T) {
	dir := t.TempDir()
	for name, calls := range map[string]string{"a": countedCalls, "b": strings.ReplaceAll(countedCalls, `"value":5`, `"value":15`)} {
		writeFile(t, filepath.Join(dir, name+".json"), calls)
		succeed(t, dir, "convert", name+".json", name)
	}
	succeed(t, dir, "report", "a", "b", "-o", "ab.html")
	b := browse(t, "file://"+filepath.Join(dir, "ab.html"))
	b.run(chromedp.Evaluate(`(s => { s.value = s.options[1].value; s.dispatchEvent(new Event("change", { bubbles: true })) })(`+
		label("Counters")+`)`, nil))
	b.until(`document.querySelectorAll("canvas.curves").length`, "2")
	for k, want := range []string{"9", "19"} {
		var box struct{ X, Y, Width, Height float64 }
		canvas := `[...document.querySelectorAll("canvas.curves")][` + strconv.Itoa(k) + `]`
		b.run(chromedp.Evaluate(canvas+`.scrollIntoView()`, nil), chromedp.Evaluate(canvas+`.getBoundingClientRect().toJSON()`, &box))
		b.run(b.mouse(pointer.MouseMoved, box.X+0.8*box.Width, box.Y+0.5*box.Height))
		b.until(reading, want)
	}
}

// TestServedCounters: of a counter with more samples than a page holds, the viewer tells the single
// ones.
func TestServedCounters(t *testing.T) {
	dir := t.TempDir()
	var text strings.Builder
	text.WriteString(`[{"ph":"X","pid":0,"tid":0,"ts":0,"dur":1000000,"name":"alpha"}`)
	for k := range 100_000 { // 10 µs each, counting 0 to 9 again and again
		text.WriteString(`,{"ph":"C","pid":0,"tid":0,"ts":` + strconv.Itoa(10*k) + `,"name":"step","args":{"value":` + strconv.Itoa(k%10) +
			`}}`)
	}
	text.WriteString("]")
	writeFile(t, filepath.Join(dir, "steps.json"), text.String())
	b := browse(t, serve(t, filepath.Join(dir, "steps.json")))
	name := b.eval(label("Counters") + `.options[1].value`)
	show := func(from, to string) {
		b.run(chromedp.Evaluate(`location.hash = "from=`+from+`&to=`+to+`&counters=" + encodeURIComponent(JSON.stringify([{ name: "`+name+
			`", rows: false }]))`, nil))
		b.until(`document.querySelectorAll("canvas.curves").length`, "1")
	}
	show("0", "1000000000")
	x, y := b.curve(0.5, 0.5)
	b.run(b.mouse(pointer.MouseMoved, x, y))
	b.until(`document.querySelector("[role=status] .tooltip").innerText.includes("mean of")`, "true")
	show("500000000", "500100000") // ten samples, 0 to 9
	x, y = b.curve(0.75, 0.5)
	b.run(b.mouse(pointer.MouseMoved, x+1, y), b.mouse(pointer.MouseMoved, x, y))
	b.until(reading, "7")
}
