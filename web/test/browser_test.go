package test

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	pointer "github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"golang.org/x/image/draw"
)

// A browser shows a page and notes what a page must not do.
type browser struct {
	t   testing.TB
	ctx context.Context

	mu       sync.Mutex
	requests []string
	errors   []string
}

// browse opens the page at an address in a real browser, and holds it to what a page may do.
func browse(t testing.TB, address string) *browser {
	t.Helper()
	b := newBrowser(t)
	chromedp.ListenTarget(b.ctx, b.listen)
	b.run(network.Enable(), log.Enable(), chromedp.EmulateViewport(1280, 800), chromedp.Navigate(address),
		chromedp.WaitVisible("canvas, [role=tablist]"), chromedp.WaitVisible("[role=tabpanel] > *"))
	t.Cleanup(func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		for _, e := range b.errors {
			t.Error("console:", e)
		}
		for i, r := range b.requests {
			if i > 0 && !strings.HasPrefix(r, "blob:") /* a part of the page itself */ && !strings.HasPrefix(r, address+"tile?") &&
				!strings.HasPrefix(r, address+"curves?") && !strings.HasPrefix(r, address+"1/tile?") {
				t.Errorf("the page asks for %s", r)
			}
		}
	})
	return b
}

// chromium returns the path of a browser, and skips the test if there is none.
func chromium(t testing.TB) string {
	t.Helper()
	if testing.Short() {
		t.Skip("a browser takes seconds")
	}
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	t.Skip("needs chromium, to try pages in")
	return ""
}

// newBrowser starts a real browser.
func newBrowser(t testing.TB) *browser {
	t.Helper()
	opts := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(chromium(t)), chromedp.NoSandbox,
		chromedp.Flag("disable-gpu", true))
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewExecAllocator(ctx, opts...)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx)
	t.Cleanup(cancel)
	return &browser{t: t, ctx: ctx}
}

func (b *browser) listen(event any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch e := event.(type) {
	case *network.EventRequestWillBeSent:
		b.requests = append(b.requests, e.Request.URL)
	case *log.EventEntryAdded:
		b.errors = append(b.errors, e.Entry.Text)
	case *runtime.EventExceptionThrown:
		b.errors = append(b.errors, e.ExceptionDetails.Error())
	}
}

func (b *browser) run(actions ...chromedp.Action) {
	b.t.Helper()
	if err := chromedp.Run(b.ctx, actions...); err != nil {
		b.t.Fatal(err)
	}
}

// eval returns what an expression is as text.
func (b *browser) eval(expression string) (s string) {
	b.t.Helper()
	b.run(chromedp.Evaluate("String("+expression+")", &s))
	return s
}

// until waits until an expression is as wanted, as long as a busy machine may take. What it looks into need not be there yet: then it is
// the error.
func (b *browser) until(expression, want string) {
	b.t.Helper()
	got := ""
	for range 1000 {
		if got = b.eval("(() => { try { return " + expression + " } catch (e) { return e } })()"); got == want {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
	b.t.Errorf("%s is %q, want %q", expression, got, want)
}

// timelineHigh says that of a page of 1,280 pixels the timeline begins at 220 at most.
const timelineHigh = `document.querySelector("section[aria-label=Timeline]").getBoundingClientRect().top + scrollY <= 220`

// at returns the point of the timeline at a share of its plot and of its rows.
func (b *browser) at(x, y float64) (px, py float64) {
	b.t.Helper()
	var box struct{ X, Y, Width, Height float64 }
	b.run(chromedp.ScrollIntoView(".scroller canvas"), chromedp.Evaluate(`document.querySelector(".scroller canvas").getBoundingClientRect().toJSON()`, &box))
	const gutter, ruler, margin = 138, 26, 8 // of web/src/canvas.ts
	return box.X + gutter + x*(box.Width-gutter-margin), box.Y + ruler + y*(box.Height-ruler)
}

func (b *browser) mouse(kind pointer.MouseType, x, y float64, m ...pointer.Modifier) chromedp.Action {
	p := pointer.DispatchMouseEvent(kind, x, y)
	if kind != pointer.MouseMoved || len(m) > 0 {
		p = p.WithButton(pointer.Left).WithClickCount(1)
	}
	for _, k := range m {
		p = p.WithModifiers(k)
	}
	return p
}

const firstTexts = `[...document.querySelectorAll("tbody tr td:first-child")].map(e => e.innerText.trim()).join()`

// TestPageInBrowser: a page of two rows whose calls are known, and of one that has none and is left out.
func TestPageInBrowser(t *testing.T) {
	dir := t.TempDir()
	calls := `[{"ph":"X","pid":0,"tid":0,"ts":0,"dur":60000,"name":"alpha"},{"ph":"X","pid":0,"tid":0,"ts":60000,"dur":40000,"name":"beta"},
		{"ph":"X","pid":1,"tid":0,"ts":0,"dur":100000,"name":"gamma"},
		{"ph":"i","pid":2,"tid":0,"ts":50000,"name":"mark"}]`
	writeFile(t, filepath.Join(dir, "two.json"), calls)
	succeed(t, dir, "report", "two.json", "-o", "two.html")
	b := browse(t, "file://"+filepath.Join(dir, "two.html"))

	b.until(`document.querySelector(".scroller canvas").ariaLabel.startsWith("Timeline of 2 rows")`, "true")
	for _, c := range []struct {
		x, y float64
		want string
	}{{0.3, 0.25, "alpha"}, {0.8, 0.25, "beta"}, {0.5, 0.75, "gamma"}} {
		x, y := b.at(c.x, c.y)
		b.run(b.mouse(pointer.MouseMoved, x, y))
		b.until(`document.querySelector(".tooltip b")?.innerText`, c.want)
	}
	if got := b.eval(`document.querySelector(".tooltip").innerText`); !strings.Contains(got, "100 ms") {
		t.Errorf("tooltip: %q", got)
	}

	b.until(firstTexts, "gamma,alpha,beta")
	x0, y := b.at(0.7, 0.25)
	x1, _ := b.at(0.9, 0.25)
	b.run(b.mouse(pointer.MousePressed, x0, y, pointer.ModifierShift), b.mouse(pointer.MouseMoved, x1, y, pointer.ModifierShift),
		b.mouse(pointer.MouseReleased, x1, y, pointer.ModifierShift))
	b.until(`document.querySelector("tbody tr td:nth-child(2)").innerText`, "20.0 ms")
	b.until(firstTexts, "beta,gamma")

	// Keys alone: read call after call, row after row.
	b.run(chromedp.Focus(".scroller canvas"), chromedp.KeyEvent("l"))
	b.until(`document.querySelector("[role=status] .tooltip b").innerText`, "alpha")
	b.run(chromedp.KeyEvent("l"))
	b.until(`document.querySelector("[role=status] .tooltip b").innerText`, "beta")
	b.run(chromedp.KeyEvent("j "))
	b.until(`document.querySelector("[role=status] .tooltip b").innerText`, "gamma")
	b.until(`document.querySelector("tr.chosen td").innerText.trim()`, "gamma")

	// Keys alone: clear, zoom in on the middle twice, choose the next tab.
	b.run(chromedp.Focus(".scroller canvas"), chromedp.KeyEvent(kb.Escape))
	b.until(firstTexts, "gamma,alpha,beta")
	b.run(chromedp.KeyEvent("ww"))
	b.until(`new URLSearchParams(location.hash.slice(1)).get("from") > 2.5e7`, "true")
	b.run(chromedp.Focus("[role=tab][aria-selected=true]"), chromedp.KeyEvent(kb.ArrowRight))
	b.until(`document.querySelector("[role=tab][aria-selected=true]").innerText`, "Profile")
	b.until(`document.activeElement.innerText`, "Profile")

	// The address keeps the state, and one that is typed holds even if the page writes its own at that moment.
	b.run(chromedp.Evaluate(`location.hash = "tab=calls"; history.replaceState(null, "", "#tab=profile")`, nil))
	b.until(`document.querySelector("[role=tab][aria-selected=true]").innerText`, "Call tree")
	b.run(chromedp.Evaluate(`location.hash = "tab=terms&select=[0,1000]"`, nil))
	b.until(`document.querySelector("[role=tab][aria-selected=true]").innerText`, "Terms")
}

// TestPageShowsTheCause: of a program with a planted imbalance, the page begins with it, and
// choosing it marks the rank. It fits into each window, and looks as it did.
func TestPageShowsTheCause(t *testing.T) {
	dir := made(t, "generate halo --ranks 8 --iterations 20 --imbalance 20000 -o halo", "report halo -o halo.html")
	b := browse(t, "file://"+filepath.Join(dir, "halo.html"))
	if got := b.eval(`document.querySelector(".causes li").innerText`); !strings.Contains(got, "is slow in") ||
		!strings.Contains(got, "interior") || !strings.Contains(got, "Rank 7") {
		t.Errorf("the first cause is %q", got)
	}
	b.until(timelineHigh, "true")
	b.run(chromedp.Click(".causes li button"))
	b.until(`document.querySelector(".causes button").getAttribute("aria-pressed")`, "true")

	for _, size := range [][2]int64{{1280, 800}, {390, 844}, {1920, 1080}} {
		b.run(chromedp.EmulateViewport(size[0], size[1]))
		b.until(`document.documentElement.scrollWidth <= innerWidth`, "true")
		time.Sleep(100 * time.Millisecond) // the next frame is drawn
		var shot []byte
		b.run(emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: "light"}}),
			chromedp.CaptureScreenshot(&shot))
		looks(t, fmt.Sprintf("testdata/page-%d.png", size[0]), shot)
	}
}

// TestPrintIsLight: a page that is dark on the screen is printed dark on light, its timeline, too.
func TestPrintIsLight(t *testing.T) {
	dir := made(t, "generate halo --ranks 4 --iterations 3 -o halo", "report halo -o halo.html")
	b := newBrowser(t)
	b.run(chromedp.Navigate("file://"+filepath.Join(dir, "halo.html")),
		emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: "dark"}}))
	b.until(`document.querySelector(".scroller canvas") != null`, "true")
	// The brightest of what is drawn where names stand, left of the bars.
	const ink = `(c => Math.max(...c.getContext("2d").getImageData(0, 30, 130, 60).data.filter((v, i, all) => i % 4 == 0 && all[i + 3] == 255)))(document.querySelector(".scroller canvas"))`
	b.until(ink+` > 180`, "true")
	b.run(chromedp.Evaluate(`dispatchEvent(new Event("beforeprint"))`, nil))
	b.until(ink+` < 100`, "true")
	b.run(chromedp.Evaluate(`dispatchEvent(new Event("afterprint"))`, nil))
	b.until(ink+` > 180`, "true")
	b.run(emulation.SetEmulatedMedia().WithMedia("print"))
	b.until(`getComputedStyle(document.querySelector("section")).backgroundColor`, "rgb(255, 255, 255)")
}

// TestViewInBrowser: of a run too long for the page, the viewer shows single calls.
func TestViewInBrowser(t *testing.T) {
	dir := made(t, "generate halo --ranks 64 --iterations 1200 -o halo")
	b := browse(t, serve(t, filepath.Join(dir, "halo")))
	hover := func() string {
		x, y := b.at(0.5, 0.002)
		b.run(b.mouse(pointer.MouseMoved, x+1, y), b.mouse(pointer.MouseMoved, x, y))
		b.until(`document.querySelector(".tooltip") != null`, "true")
		return b.eval(`document.querySelector(".tooltip").innerText`)
	}
	shown := func(coarse bool) (text string) { // once the tile is there
		for range 100 {
			if text = hover(); strings.Contains(text, "steps of") == coarse {
				break
			}
			time.Sleep(50 * time.Millisecond)
		}
		return text
	}
	if got := shown(true); !strings.Contains(got, "steps of") {
		t.Errorf("all of the run is shown as %q", got)
	}
	b.run(chromedp.Focus(".scroller canvas"), chromedp.KeyEvent(strings.Repeat("w", 24)))
	if got := shown(false); strings.Contains(got, "steps of") || !strings.Contains(got, "rank 0") {
		t.Errorf("a call is shown as %q", got)
	}
}

// TestMovedIsDrawn: a timeline that was moved shows what one shows that was opened there.
func TestMovedIsDrawn(t *testing.T) {
	dir := made(t, "generate halo --ranks 700 --iterations 3 -o halo", "report halo -o halo.html")
	address := "file://" + filepath.Join(dir, "halo.html")
	b := newBrowser(t)
	b.run(chromedp.EmulateViewport(1280, 800), chromedp.Navigate(address+"#from=20000&to=40000"))
	b.until(`document.querySelector(".scroller canvas") != null`, "true")
	const picture = `(() => { const c = document.querySelector(".scroller canvas"); return [...c.getContext("2d").getImageData(0, 0, c.width, c.height).data.filter((_, i) => i % 7 == 0)].join() })()`
	for _, px := range []int{9, 250, -400} {
		b.run(chromedp.Evaluate(fmt.Sprintf(`document.querySelector(".scroller canvas").dispatchEvent(new WheelEvent("wheel", { deltaX: %d, cancelable: true }))`, px), nil))
		time.Sleep(400 * time.Millisecond) // drawn, and in the address
		moved := b.eval(picture)
		b.run(chromedp.Reload())
		b.until(`document.querySelector(".scroller canvas") != null`, "true")
		time.Sleep(200 * time.Millisecond)
		if opened := b.eval(picture); different(moved, opened) > 0.001 {
			t.Errorf("moved by %d px: %.4f of the picture is not what is drawn there", px, different(moved, opened))
		}
	}
}

// different returns the share of numbers that differ by more than 8.
func different(a, b string) float64 {
	x, y := strings.Split(a, ","), strings.Split(b, ",")
	if len(x) != len(y) {
		return 1
	}
	n := 0
	for i := range x {
		v, _ := strconv.Atoi(x[i])
		w, _ := strconv.Atoi(y[i])
		if max(v-w, w-v) > 8 {
			n++
		}
	}
	return float64(n) / float64(len(x))
}

// looks compares a picture with a golden, both in squares of 16 pixels: fonts differ.
func looks(t *testing.T, golden string, shot []byte) {
	t.Helper()
	full, err := png.Decode(bytes.NewReader(shot))
	if err != nil {
		t.Fatal(err)
	}
	small := image.NewGray(image.Rect(0, 0, full.Bounds().Dx()/16, full.Bounds().Dy()/16))
	draw.BiLinear.Scale(small, small.Bounds(), full, full.Bounds(), draw.Src, nil)
	if *update {
		var b bytes.Buffer
		if err := png.Encode(&b, small); err != nil {
			t.Fatal(err)
		}
		writeFile(t, golden, b.String())
		return
	}
	f, err := os.Open(golden)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	want, err := png.Decode(f)
	if err != nil || want.Bounds() != small.Bounds() {
		t.Fatal(err, want.Bounds(), small.Bounds())
	}
	off := 0.0
	for y := range small.Rect.Dy() {
		for x := range small.Rect.Dx() {
			d := int(small.GrayAt(x, y).Y) - int(color.GrayModel.Convert(want.At(x, y)).(color.Gray).Y)
			off += float64(max(d, -d))
		}
	}
	if off /= float64(len(small.Pix)); off > 10 {
		t.Errorf("%s: the page looks different, by %.1f of 255 on the mean", filepath.Base(golden), off)
	}
}
