package test

import (
	"fmt"
	"strings"
	"testing"

	pointer "github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// level returns what the page says of a level of the first row, at a share of the time.
func (b *browser) level(x float64, level int) string {
	b.t.Helper()
	px, top := b.at(x, 0)
	const height = 17 // of web/src/strips.ts
	py := top + (float64(level)+0.5)*height
	b.run(b.mouse(pointer.MouseMoved, px+1, py), b.mouse(pointer.MouseMoved, px, py))
	return b.eval(hovered)
}

// TestLevels: where there is room, rows show what they call, each call below the one it is made in, and waits below the call that
// waits; keys go through them, and a click on a row's name closes it. The address keeps which rows are open.
func TestLevels(t *testing.T) {
	b := reported(t, "halo --ranks 4 --iterations 3 --imbalance 200000")
	at := make(map[int]string) // what was seen at each level
	for level := range 4 {
		for k := range 40 {
			at[level] += b.level((float64(k)+0.5)/40, level) + "\n"
		}
	}
	for level, names := range [][]string{{"main"}, {"exchange", "norm"}, {"MPI_Allreduce"}, {"MPI_Allreduce wait at N×N"}} {
		for _, name := range names {
			if !strings.Contains("\n"+at[level], "\n"+name+"\n") {
				t.Errorf("nothing at level %d is called %s: %q", level, name, at[level])
			}
		}
	}
	b.level(0.5, 0)
	b.run(chromedp.Focus(".scroller canvas"), chromedp.KeyEvent("j"))
	b.until(`["exchange", "interior", "norm"].includes(document.querySelector(".tooltip b")?.innerText)`, "true")
	b.run(chromedp.KeyEvent(" "))
	b.until(`new URLSearchParams(location.hash.slice(1)).get("path") > 0`, "true")
	b.run(chromedp.KeyEvent(kb.Escape))
	b.until(`new URLSearchParams(location.hash.slice(1)).get("path")`, "null")
	height := b.eval(`document.querySelector(".scroller canvas").clientHeight`)
	b.drag(-0.05, 0.01, -0.05, 0.01) // without moving
	b.until(`new URLSearchParams(location.hash.slice(1)).get("open")`, "[1,2,3]")
	b.until(`document.querySelector(".scroller canvas").clientHeight < `+height, "true")
	b.run(chromedp.Focus(".scroller canvas"), chromedp.KeyEvent("o"))
	b.until(`new URLSearchParams(location.hash.slice(1)).get("open")`, "[1,2,3,0]")
	b.until(`document.querySelector(".scroller canvas").clientHeight`, height)
}

// TestFold: a folded group is one row with the mean of its rows; one of them is opened by a key or a click on its name, and the
// address keeps which.
func TestFold(t *testing.T) {
	b := reported(t, "halo --ranks 4 --threads 3 --iterations 3")
	b.until(rowsDrawn, "12")
	b.until(`[...document.querySelector("[aria-label='Rows grouped']").options].map(o => o.value).join()`, ",node,process")
	b.run(chromedp.Evaluate(`(s => { s.value = "process"; s.dispatchEvent(new Event("change", { bubbles: true })) })(document.querySelector("[aria-label='Rows grouped']"))`, nil))
	b.until(`document.querySelector(".scroller canvas").ariaLabel.includes("grouped by process, 0 groups folded")`, "true")
	open := b.eval(`document.querySelector(".scroller canvas").clientHeight`)
	b.run(chromedp.Evaluate(`[...document.querySelectorAll("button")].find(e => e.innerText == "Fold groups").click()`, nil))
	b.until(`document.querySelector(".scroller canvas").clientHeight`, "118") // 26 of the ruler and 4 groups of 23
	const closed = `new URLSearchParams(location.hash.slice(1)).get("closed")`
	b.until(closed, `["rank 0","rank 1","rank 2","rank 3"]`)
	const ink = `[...document.querySelector(".scroller canvas").getContext("2d").getImageData(400, 38, 1, 1).data].join()`
	if mean := b.eval(ink); mean == "0,0,0,0" {
		t.Error("a folded group shows nothing")
	}
	b.run(chromedp.Focus(".scroller canvas"), chromedp.KeyEvent("f"))
	b.until(closed, `["rank 1","rank 2","rank 3"]`)
	x, y := b.at(-0.05, 0)
	b.run(b.mouse(pointer.MousePressed, x, y+10), b.mouse(pointer.MouseReleased, x, y+10))
	b.until(closed, `["rank 1","rank 2","rank 3","rank 0"]`)
	b.run(chromedp.Evaluate(`[...document.querySelectorAll("button")].find(e => e.innerText == "Fold groups").click()`, nil))
	b.until(`document.querySelector(".scroller canvas").clientHeight`, open)
}

// TestRowsByTouch: a finger that moves over the names chooses rows, two that come apart there show fewer.
func TestRowsByTouch(t *testing.T) {
	b := reported(t, "halo --ranks 64 --iterations 5")
	b.until(rowsDrawn, "64")
	touch := func(kind pointer.TouchType, rows ...float64) {
		t.Helper()
		points := []*pointer.TouchPoint{}
		for id, row := range rows {
			x, y := b.at(-0.05, row/64)
			points = append(points, &pointer.TouchPoint{X: x, Y: y, ID: float64(id + 1)})
		}
		b.run(pointer.DispatchTouchEvent(kind, points))
	}
	touch(pointer.TouchStart, 16.5)
	touch(pointer.TouchMove, 20.5)
	touch(pointer.TouchMove, 31.5)
	touch(pointer.TouchEnd)
	b.until(rowsDrawn, "16")
	touch(pointer.TouchStart, 24)
	touch(pointer.TouchStart, 24, 40)
	for k := range 4 {
		touch(pointer.TouchMove, 24-3*float64(k), 40+3*float64(k))
	}
	touch(pointer.TouchEnd)
	b.until(fmt.Sprintf("%s < 16", rowsDrawn), "true")
}
