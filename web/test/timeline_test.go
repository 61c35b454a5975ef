package test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	pointer "github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// reported opens the page of a trace that is generated so.
func reported(t *testing.T, program string) *browser {
	t.Helper()
	dir := made(t, "generate "+program+" -o made", "report made -o made.html")
	return browse(t, "file://"+filepath.Join(dir, "made.html"))
}

const (
	rowsDrawn   = `document.querySelector(".scroller canvas").ariaLabel.match(/of (\d+) rows/)[1]`
	visitsFound = `document.querySelector(".visits").innerText`
	hovered     = `document.querySelector(".tooltip")?.innerText ?? ""`
)

// hover returns what the page says of a place in the timeline.
func (b *browser) hover(x, y float64) string {
	b.t.Helper()
	px, py := b.at(x, y)
	b.run(b.mouse(pointer.MouseMoved, px+1, py), b.mouse(pointer.MouseMoved, px, py))
	return b.eval(hovered)
}

// drag presses at one place of the timeline and releases at another.
func (b *browser) drag(x0, y0, x1, y1 float64) {
	b.t.Helper()
	px, py := b.at(x0, y0)
	qx, qy := b.at(x1, y1)
	b.run(b.mouse(pointer.MousePressed, px, py), b.mouse(pointer.MouseMoved, (px+qx)/2, (py+qy)/2), b.mouse(pointer.MouseMoved, qx, qy),
		b.mouse(pointer.MouseReleased, qx, qy))
}

// TestRowsAreChosen: dragging over the names shows these rows, keys show fewer and others, the address
// keeps them, and a button brings all back.
func TestRowsAreChosen(t *testing.T) {
	b := reported(t, "halo --ranks 64 --iterations 5")
	b.until(rowsDrawn, "64")
	b.drag(-0.05, 16.5/64, -0.05, 31.5/64)
	b.until(rowsDrawn, "16")
	if got := b.hover(0.5, 0.5/16); !strings.Contains(got, "rank 16 ") {
		t.Errorf("the first row that was chosen is %q", got)
	}
	b.until(`new URLSearchParams(location.hash.slice(1)).get("band")`, "[16,32]")
	b.run(chromedp.Focus(".scroller canvas"), chromedp.KeyEvent("W"))
	b.until(rowsDrawn, "9")
	b.run(chromedp.KeyEvent(strings.Repeat(kb.ArrowDown, 40)))
	b.until(`new URLSearchParams(location.hash.slice(1)).get("band")`, "[55,64]")
	b.drag(0.5, 0.25, 0.5, 0.25+2.0/9) // the picture follows the hand: what lies above comes
	b.until(`new URLSearchParams(location.hash.slice(1)).get("band")`, "[53,62]")
	b.run(chromedp.Evaluate(`[...document.querySelectorAll("button")].find(e => e.innerText == "All 64 rows").click()`, nil))
	b.until(rowsDrawn, "64")
}

// TestWaitTellsItsCause: who hovers over a wait reads for whom, and what that one does meanwhile, and over a call its
// arguments.
func TestWaitTellsItsCause(t *testing.T) {
	b := reported(t, "halo --ranks 8 --iterations 3 --imbalance 200000")
	b.run(chromedp.Evaluate(`location.hash = "open=[]"`, nil)) // a row is a lane, in which all calls are the innermost
	seen := map[string]string{}
	look := func() {
		for k := range 100 {
			if title, text, ok := strings.Cut(b.hover((float64(k)+0.5)/100, 0.5/8), "\n"); ok {
				seen[title] += text + "\n"
			}
		}
	}
	look()
	b.run(chromedp.Evaluate(`location.hash = "from=0&to=20000&open=[]"`, nil))
	b.until(`document.querySelector(".scroller canvas").ariaLabel.includes("from 0 ns to 20000 ns")`, "true")
	look()
	said := func(title, text string) {
		t.Helper()
		for name, all := range seen {
			if strings.HasPrefix(name, title) && strings.Contains(all, text) {
				return
			}
		}
		t.Errorf("nothing that begins with %q says %q: %q", title, text, seen)
	}
	said("MPI_Allreduce wait at N×N", "last to come: rank 7, at ")
	said("MPI_Allreduce wait at N×N", "meanwhile in interior")
	said("MPI_Allreduce", "MPI_COMM_WORLD, 8 rows, they send 64 B, receive 64 B")
	said("MPI_Waitall", "from rank 1, tag ")
}

// TestFindGoesThere: what is sought is gone to, visit after visit.
func TestFindGoesThere(t *testing.T) {
	b := reported(t, "halo --ranks 2 --iterations 50")
	b.run(chromedp.Evaluate(`location.hash = "from=0&to=20000"`, nil))
	b.until(`document.querySelector(".scroller canvas").ariaLabel.includes("from 0 ns to 20000 ns")`, "true")
	b.run(chromedp.SendKeys("input[type=search]", "Finalize\r"))
	b.until(`new URLSearchParams(location.hash.slice(1)).get("from") > 100000`, "true")
	if got := b.hover(0.99, 0.25); !strings.Contains(got, "MPI_Finalize") {
		t.Errorf("at the end stands %q", got)
	}
	b.run(chromedp.SendKeys("input[type=search]", "nowhere"))
	b.until(visitsFound, "no such region")
}

// TestCallTreeFolds: what takes little is folded, and is shown by a click or when it is sought.
func TestCallTreeFolds(t *testing.T) {
	b := reported(t, "halo --ranks 4 --iterations 20 --imbalance 200000")
	all := b.eval(`document.querySelectorAll("#panel tbody tr").length`)
	press := func(name string) {
		t.Helper()
		b.run(chromedp.Evaluate(`[...document.querySelectorAll("#panel button")].find(e => e.innerText == "`+name+`").click()`, nil))
	}
	press("Close all")
	b.until(`document.querySelectorAll("#panel tbody tr").length < `+all, "true")
	b.until(`document.querySelector("#panel tbody button[aria-expanded]").ariaExpanded`, "false")
	b.run(chromedp.SendKeys("#panel .filter input", "Allreduce"))
	b.until(`document.querySelector("#panel tbody tr td")?.innerText.includes("MPI_Allreduce")`, "true")
	b.run(chromedp.Evaluate(`[...document.querySelectorAll(".metric")].find(e => e.innerText.startsWith("wait at N×N")).click()`, nil))
	b.until(`document.querySelector("#panel .ranks figcaption")?.innerText.startsWith("wait at N×N, by row")`, "true")
}

const viewFrom = `Number(new URLSearchParams(location.hash.slice(1)).get("from") ?? 0)`

// TestBackUndoesAZoom: each zoom is an entry of the history.
func TestBackUndoesAZoom(t *testing.T) {
	b := reported(t, "halo --ranks 4 --iterations 50")
	b.run(chromedp.Focus(".scroller canvas"), chromedp.KeyEvent("ww"))
	b.until(viewFrom+" > 100", "true")
	first := b.eval(viewFrom)
	b.run(chromedp.KeyEvent("ww"))
	b.until(viewFrom+" > "+first, "true")
	b.run(chromedp.Evaluate("history.back()", nil))
	b.until(viewFrom, first)
	b.run(chromedp.Evaluate("history.back()", nil))
	b.until(viewFrom, "0")
}

// TestWheel: with Ctrl it zooms, alone it is left to the page, which scrolls.
func TestWheel(t *testing.T) {
	b := reported(t, "halo --ranks 64 --iterations 50")
	wheel := func(ctrl string) string {
		t.Helper()
		return b.eval(`document.querySelector(".scroller canvas").dispatchEvent(new WheelEvent("wheel", { deltaY: -300, ctrlKey: ` + ctrl +
			`, bubbles: true, cancelable: true, clientX: 700, clientY: 500 }))`)
	}
	if got := wheel("false"); got != "true" {
		t.Error("the timeline takes the wheel from the page")
	}
	if got := wheel("true"); got != "false" {
		t.Error("the timeline leaves Ctrl and the wheel to the page")
	}
	b.until(viewFrom+" > 100", "true")
}

// TestOverview: a drag over the overview shows that time, a drag of the window moves it.
func TestOverview(t *testing.T) {
	b := reported(t, "halo --ranks 4 --iterations 50")
	b.until(`document.querySelector(".overview svg").ariaLabel.startsWith("Waiting over the run")`, "true")
	var box struct{ X, Y, Width, Height float64 }
	b.run(chromedp.ScrollIntoView(".overview .strip"),
		chromedp.Evaluate(`document.querySelector(".overview .strip").getBoundingClientRect().toJSON()`, &box))
	at := func(x float64) (float64, float64) { return box.X + x*box.Width, box.Y + box.Height/2 }
	drag := func(from, to float64) {
		x0, y := at(from)
		x1, _ := at(to)
		b.run(b.mouse(pointer.MousePressed, x0, y), b.mouse(pointer.MouseMoved, (x0+x1)/2, y), b.mouse(pointer.MouseMoved, x1, y),
			b.mouse(pointer.MouseReleased, x1, y))
	}
	drag(0.5, 0.75)
	b.until(viewFrom+" > 1000", "true")
	first := b.eval(viewFrom)
	drag(0.6, 0.4)
	b.until(viewFrom+" < "+first+" && "+viewFrom+" > 1000", "true")
}

// TestMessageIsPicked: over the line of a message stands what it is, and a click pins the rows that it joins.
func TestMessageIsPicked(t *testing.T) {
	b := reported(t, "halo --ranks 2 --iterations 3")
	b.run(chromedp.Evaluate(`location.hash = "open=[]"`, nil))
	for k := range 100 {
		x, y := (float64(k)+0.5)/100, 0.5
		if text := b.hover(x, y); strings.HasPrefix(text, "Message of") {
			if !strings.Contains(text, "rank 0") || !strings.Contains(text, "rank 1") {
				t.Errorf("a message is told as %q", text)
			}
			b.drag(x, y, x, y)
			b.until(`document.querySelector(".scroller canvas").ariaLabel.startsWith("Timeline of 2 rows, 2 pinned,")`, "true")
			return
		}
	}
	t.Error("no message was found between the rows")
}

// TestFindListsAndCounts: what is sought is listed by name and counted, a choice of the list narrows it.
func TestFindListsAndCounts(t *testing.T) {
	b := reported(t, "halo --ranks 2 --iterations 50")
	b.run(chromedp.SendKeys("input[type=search]", "MPI_I", chromedp.ByQuery))
	b.until(`[...document.querySelectorAll(".found button")].map(e => e.innerText.split(" ")[0]).sort().join()`,
		"MPI_Init,MPI_Irecv,MPI_Isend")
	b.run(chromedp.Evaluate(`[...document.querySelectorAll(".found button")].find(e => e.innerText.startsWith("MPI_Isend")).click()`, nil))
	b.until(`document.querySelector(".visits").innerText`, "100 visits")
	b.run(chromedp.Evaluate(`document.querySelector("[aria-label='Next visit']").click()`, nil))
	b.until(`document.querySelector(".visits").innerText.endsWith(" of 100 visits")`, "true")
}

// TestNotesTravel: a note is kept in the address, and the picture that is seen is saved.
func TestNotesTravel(t *testing.T) {
	b := reported(t, "halo --ranks 2 --iterations 5")
	b.run(chromedp.Focus(".scroller canvas", chromedp.ByQuery), chromedp.KeyEvent("n"), chromedp.WaitVisible(".notes input", chromedp.ByQuery),
		chromedp.SendKeys(".notes input", "look here", chromedp.ByQuery))
	b.until(`JSON.parse(new URLSearchParams(location.hash.slice(1)).get("notes") ?? "[]")[0]?.text`, "look here")
	b.run(chromedp.Evaluate(`window.kept = location.hash; location.hash = "notes=[]"`, nil))
	b.until(`document.querySelector(".notes")`, "null")
	b.run(chromedp.Evaluate(`location.hash = kept`, nil), chromedp.WaitVisible(".notes input", chromedp.ByQuery))
	b.until(`document.querySelector(".notes input").value`, "look here")
	b.run(chromedp.Evaluate(`URL.createObjectURL = blob => { window.saved = blob.type + " " + (blob.size > 5000); return "#" }`, nil),
		chromedp.Evaluate(`[...document.querySelectorAll("button")].find(e => e.innerText == "PNG").click()`, nil))
	b.until("window.saved", "image/png true")
}

// TestNothingMoves: what is under the pointer stays there while a time is selected and a call is chosen.
func TestNothingMoves(t *testing.T) {
	b := reported(t, "halo --ranks 4 --iterations 20")
	const top = `document.querySelector(".scroller canvas").getBoundingClientRect().top`
	b.at(0.5, 0.5) // scrolls there
	was := b.eval(top)
	x0, y := b.at(0.3, 0.5)
	x1, _ := b.at(0.6, 0.5)
	b.run(b.mouse(pointer.MousePressed, x0, y, pointer.ModifierShift), b.mouse(pointer.MouseMoved, x1, y, pointer.ModifierShift))
	b.until(`document.querySelector("#panel .selected") != null`, "true")
	b.until(top, was)
	b.run(b.mouse(pointer.MouseReleased, x1, y, pointer.ModifierShift), b.mouse(pointer.MousePressed, x0, y),
		b.mouse(pointer.MouseReleased, x0, y))
	b.until(`document.querySelector("#panel tr.chosen") != null`, "true")
	b.until(visitsFound+`.endsWith("visits")`, "true")
	b.until(top, was)
}

// TestOneWaitingColor: the bar of the header, which the style sheet colors, and the timeline have the same color for waiting.
func TestOneWaitingColor(t *testing.T) {
	dir := made(t, "generate halo --ranks 4 --iterations 5 --imbalance 20000 -o a", "report a -o a.html")
	b := browse(t, "file://"+filepath.Join(dir, "a.html"))
	const same = `[...document.querySelectorAll(".legend span[title]")].some(e => e.textContent == "waiting" &&
		getComputedStyle(e.querySelector(".swatch")).backgroundColor == getComputedStyle(document.querySelector(".kind-wait")).backgroundColor)`
	for _, theme := range []string{"light", "dark"} {
		b.run(emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: theme}}))
		b.until(same, "true")
	}
}

// TestPointingDrawsNothing: what the pointer is over is told without drawing the timeline anew.
func TestPointingDrawsNothing(t *testing.T) {
	b := reported(t, "halo --ranks 4 --iterations 3")
	b.run(chromedp.Evaluate(`{ const put = CanvasRenderingContext2D.prototype.putImageData; window.drawn = 0
		CanvasRenderingContext2D.prototype.putImageData = function(...a) { window.drawn++; put.apply(this, a) } }`, nil))
	x, y := b.at(0.3, 0.2)
	b.run(b.mouse(pointer.MouseMoved, x, y))
	b.until(`document.querySelector(".tooltip") !== null`, "true")
	if got := b.eval("window.drawn"); got != "0" {
		t.Errorf("%s pictures were put", got)
	}
	b.run(chromedp.Focus(".scroller canvas"), chromedp.KeyEvent("w"))
	b.until("window.drawn > 0", "true")
}
