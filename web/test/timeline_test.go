package test

import (
	"path/filepath"
	"strings"
	"testing"

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
	rowsDrawn = `document.querySelector("canvas").ariaLabel.match(/of (\d+) rows/)[1]`
	hovered   = `document.querySelector(".tooltip")?.innerText ?? ""`
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
	b.run(chromedp.Focus("canvas"), chromedp.KeyEvent("W"))
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
	seen := map[string]string{}
	look := func() {
		for k := range 100 {
			if title, text, ok := strings.Cut(b.hover((float64(k)+0.5)/100, 0.5/8), "\n"); ok {
				seen[title] += text + "\n"
			}
		}
	}
	look()
	b.run(chromedp.Evaluate(`location.hash = "from=0&to=20000"`, nil))
	b.until(`document.querySelector("canvas").ariaLabel.includes("from 0 ns to 20000 ns")`, "true")
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
	b.until(`document.querySelector("canvas").ariaLabel.includes("from 0 ns to 20000 ns")`, "true")
	b.run(chromedp.SendKeys("input[type=search]", "Finalize\r"))
	b.until(`new URLSearchParams(location.hash.slice(1)).get("from") > 100000`, "true")
	if got := b.hover(0.99, 0.25); !strings.Contains(got, "MPI_Finalize") {
		t.Errorf("at the end stands %q", got)
	}
	b.run(chromedp.SendKeys("input[type=search]", "nowhere"))
	b.until(`document.querySelector(".tools [role=status]").innerText`, "no such region")
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
	b.run(chromedp.Evaluate(`(s => { s.value = "wait at N×N"; s.dispatchEvent(new Event("change", { bubbles: true })) })(document.querySelector("#panel select"))`, nil))
	b.until(`document.querySelector("#panel .ranks figcaption")?.innerText.startsWith("wait at N×N, by row")`, "true")
}
