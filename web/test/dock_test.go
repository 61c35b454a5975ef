package test

import (
	"encoding/xml"
	"io"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// TestDetails: the dock tells of a call, of its partner, of a rank and of a cause, leads from one to another, and moves nothing.
func TestDetails(t *testing.T) {
	b := reported(t, "halo --ranks 4 --iterations 20 --imbalance 200000")
	const dock = `document.querySelector("[aria-label=Details]")`
	const panes = `document.querySelector("#panel").getBoundingClientRect().top + scrollY`
	link := func(name string) {
		t.Helper()
		b.run(chromedp.Evaluate(`[...`+dock+`.querySelectorAll("button")].find(e => e.innerText == "`+name+`").click()`, nil))
	}
	before := b.eval(panes)
	b.run(chromedp.Evaluate(`document.querySelector(".causes button").click()`, nil))
	b.until(dock+`.querySelector(".tools b").innerText == document.querySelector(".causes b").innerText`, "true")
	b.until(dock+`.querySelector(".blamed").innerText`, "rank 3")
	x, y := b.at(0.5, 0)
	b.run(b.mouse(input.MousePressed, x, y+10), b.mouse(input.MouseReleased, x, y+10)) // on the pinned row that is to blame
	b.until(dock+`.querySelector(".tools b").innerText`, "interior")
	b.until(`[...`+dock+`.querySelectorAll("dt")].map(e => e.innerText).join()`,
		"on,time,kind,all calls,source,critical path,phase,cause,path")
	link("exchange")
	b.until(`document.querySelector("tr.chosen td").innerText.includes("exchange")`, "true")
	b.run(chromedp.Evaluate(`document.querySelector(".rank").click()`, nil))
	b.until(`[...`+dock+`.querySelectorAll("dt")].map(e => e.innerText).slice(0, 3).join()`, "row,does,most in")
	if after := b.eval(panes); after != before {
		t.Errorf("the panes lay at %s, and now at %s", before, after)
	}
	link("Clear")
	b.until(dock+`.className`, "dock")
}

// TestDrawing: the timeline as SVG is well formed, and has what is seen: names of rows and of calls, bars as rectangles.
func TestDrawing(t *testing.T) {
	b := reported(t, "halo --ranks 4 --iterations 3")
	var text string
	b.run(chromedp.Evaluate(`(() => { const old = URL.createObjectURL; URL.createObjectURL = b => { window.saved = b; return old.call(URL, b) }
		HTMLAnchorElement.prototype.click = () => {}
		;[...document.querySelectorAll("button")].find(e => e.innerText == "SVG").click()
		return window.saved.text() })()`, &text, func(p *runtime.EvaluateParams) *runtime.EvaluateParams { return p.WithAwaitPromise(true) }))
	texts, rects := map[string]bool{}, 0
	for d := xml.NewDecoder(strings.NewReader(text)); ; {
		token, err := d.Token()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatalf("%v in %.200s", err, text)
		}
		switch e := token.(type) {
		case xml.StartElement:
			if e.Name.Local == "rect" {
				rects++
			}
		case xml.CharData:
			texts[string(e)] = true
		}
	}
	if !texts["rank 0"] || !texts["rank 3"] || !texts["main"] || rects < 40 {
		t.Errorf("%d rectangles, and the texts %v", rects, texts)
	}
}
