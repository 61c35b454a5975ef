package test

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// cellOf returns a cell of the row of the call tree that begins with a name.
const cellOf = `((name, k) => [...document.querySelectorAll("#panel tbody tr")].find(r => r.cells[0].innerText.trim().replace(/^[▾▸]\s*/, "").startsWith(name))?.cells[k].innerText.trim() ?? "")`

// TestCallPathShapes: callers have the own time of regions, below each who calls it; in the flame graph a call lies below the one that
// makes it; the map of ranks pins a row; tables are copied with all their rows.
func TestCallPathShapes(t *testing.T) {
	b := reported(t, "halo --ranks 4 --iterations 20 --imbalance 200000")
	press := func(of, name string) {
		t.Helper()
		b.run(chromedp.Evaluate(`[...document.querySelectorAll("`+of+`")].find(e => e.innerText == "`+name+`").click()`, nil))
	}
	press("#panel button", "Open all")
	b.until(cellOf+`("MPI_Waitall", 3) != ""`, "true")
	own := b.eval(cellOf + `("MPI_Waitall", 3)`)

	press("#panel button", "Callers")
	b.until(cellOf+`("MPI_Waitall", 1)`, own)
	b.until(cellOf+`("← exchange", 1)`, "")
	b.run(chromedp.Evaluate(`document.querySelector("[aria-label='What MPI_Waitall is called by']").click()`, nil))
	b.until(cellOf+`("← exchange", 1)`, own)

	press("#panel button", "Flame graph")
	const box = `(name => document.querySelector(".flame button[title^='" + name + ":']").getBoundingClientRect().toJSON())`
	var caller, call struct{ X, Y, Width, Height float64 }
	b.run(chromedp.WaitVisible(".flame", chromedp.ByQuery), chromedp.Evaluate(box+`("exchange")`, &caller),
		chromedp.Evaluate(box+`("interior")`, &call))
	if call.Y <= caller.Y || call.X < caller.X-1 || call.X+call.Width > caller.X+caller.Width+1 {
		t.Errorf("interior lies at %v, exchange, which calls it, at %v", call, caller)
	}
	b.run(chromedp.Click(`.flame button[title^="interior:"]`, chromedp.ByQuery))
	b.until(`document.querySelector(".ranks figcaption").innerText.startsWith("interior and below, by row")`, "true")
	b.until(`document.querySelector(".flame button[title^='interior:']").ariaPressed`, "true")

	b.run(chromedp.Evaluate(`(s => { s.value = -2; s.dispatchEvent(new Event("change", { bubbles: true })) })(document.querySelector("#panel select"))`, nil))
	b.run(chromedp.Click(".heatmap canvas", chromedp.ByQuery))
	b.until(`new URLSearchParams(location.hash.slice(1)).get("pins")?.length`, "3")

	press("#panel button", "Call tree")
	b.run(chromedp.Evaluate(`navigator.clipboard.writeText = text => { window.copied = text; return Promise.resolve() }`, nil))
	press("#panel button", "Copy CSV")
	b.until(`document.querySelector(".csv + [role=status]").innerText`, "Copied")
	lines := strings.Split(strings.TrimSpace(b.eval("window.copied")), "\n")
	if !strings.HasPrefix(lines[0], "Call path,Inclusive,Share,Exclusive,Waiting") || len(lines) < 8 || strings.Count(lines[1], ",") != 4 {
		t.Errorf("copied were %d lines, the first two %q", len(lines), lines[:2])
	}
}
