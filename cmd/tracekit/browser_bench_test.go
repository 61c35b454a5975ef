package main

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/performance"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// noteFrames counts in a page how often the timeline is drawn, and notes when it was first.
const noteFrames = `{
	const put = CanvasRenderingContext2D.prototype.putImageData
	CanvasRenderingContext2D.prototype.putImageData = function(...a) {
		put.apply(this, a)
		window.drawn = (window.drawn || 0) + 1
		window.firstDrawn ||= performance.now()
	}
}`

// panning moves the timeline in every frame for a while, there and back, and returns how many
// frames were drawn and in how many ms.
const panning = `new Promise(done => {
	const canvas = document.querySelector("canvas"), begin = performance.now(), before = drawn
	let k = 0
	const frame = () => {
		if (k === 240) return done([drawn - before, performance.now() - begin])
		canvas.dispatchEvent(new WheelEvent("wheel", { deltaX: k++ % 120 < 60 ? 9 : -9, bubbles: true, cancelable: true }))
		requestAnimationFrame(frame)
	}
	requestAnimationFrame(frame)
})`

// BenchmarkPage measures a page of 4 MiB and 1,024 rows in a window of 1,280 × 800: how long it
// takes to open, and what the page's own thread does for a frame while it is moved. A browser
// without a display has no graphics processor; frames/s is bounded by that, ms/frame is not.
func BenchmarkPage(b *testing.B) {
	dir := b.TempDir()
	for _, args := range [][]string{
		{"generate", "halo", "--ranks", "1024", "--iterations", "60", "-o", "halo"},
		{"report", "halo", "-o", "halo.html"},
	} {
		if _, errs, code := tracekit(b, dir, args...); code != 0 {
			b.Fatal(errs)
		}
	}
	address := "file://" + filepath.Join(dir, "halo.html")
	info, err := os.Stat(filepath.Join(dir, "halo.html"))
	if err != nil {
		b.Fatal(err)
	}
	w := newBrowser(b)
	w.run(chromedp.EmulateViewport(1280, 800), performance.Enable().WithTimeDomain(performance.EnableTimeDomainThreadTicks),
		chromedp.ActionFunc(func(ctx context.Context) error {
			_, err := page.AddScriptToEvaluateOnNewDocument(noteFrames).Do(ctx)
			return err
		}))
	for _, c := range []struct{ name, hash string }{
		{"all", "from=200000&to=800000&messages=false"},
		{"zoomed", "from=100000&to=140000&messages=false"},
		{"joined", "from=100000&to=140000&critical=true"},
		{"faded", "from=100000&to=600000&critical=true&search=Waitall"},
	} {
		b.Run(c.name, func(b *testing.B) {
			w := &browser{t: b, ctx: w.ctx}
			for b.Loop() {
				w.run(chromedp.Navigate(address + "?" + c.name + "#" + c.hash))
				w.until("window.drawn > 0", "true")
				var first float64
				w.run(chromedp.Evaluate("firstDrawn", &first), chromedp.Evaluate(`document.querySelector("canvas").scrollIntoView()`, nil))
				opening := w.busy()
				time.Sleep(500 * time.Millisecond)
				before := w.busy()
				var panned [2]float64
				w.run(chromedp.Evaluate(panning, &panned, func(p *runtime.EvaluateParams) *runtime.EvaluateParams { return p.WithAwaitPromise(true) }))
				b.ReportMetric(float64(info.Size()), "page-bytes")
				b.ReportMetric(first, "ms-opening")
				b.ReportMetric(opening*1e3, "cpu-ms-opening")
				b.ReportMetric(panned[0]/panned[1]*1e3, "frames/s")
				b.ReportMetric((w.busy()-before)*1e3/max(panned[0], 1), "cpu-ms/frame")
			}
		})
	}
}

// busy returns the seconds of processor time that the page's thread has taken.
func (b *browser) busy() (seconds float64) {
	b.t.Helper()
	b.run(chromedp.ActionFunc(func(ctx context.Context) error {
		metrics, err := performance.GetMetrics().Do(ctx)
		for _, m := range metrics {
			if m.Name == "TaskDuration" {
				seconds = m.Value
			}
		}
		return err
	}))
	return seconds
}
