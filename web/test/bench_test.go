package test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	pointer "github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/performance"
	"github.com/chromedp/chromedp"
)

// noteFrames notes in a page when the timeline is drawn, and when after the first time the page
// has nothing left to do.
const noteFrames = `{
	const put = CanvasRenderingContext2D.prototype.putImageData
	window.drawn = []
	CanvasRenderingContext2D.prototype.putImageData = function(...a) {
		put.apply(this, a)
		if (window.noted) return // another part of the same frame
		window.noted = true
		queueMicrotask(() => { window.noted = false })
		if (drawn.push(performance.now()) === 1) requestIdleCallback(() => { window.usable = performance.now() })
	}
}`

// moves is how often the mouse is moved to pan: as a rule the browser delivers one for each frame.
const moves = 180

// pan drags the timeline there and back, and returns when it was drawn meanwhile, ms. Each move is
// input of the browser's, which delivers it where it delivers a user's: before it draws a frame.
func (b *browser) pan() (drawn []float64) {
	b.t.Helper()
	x, y := b.at(0.3, 0.5)
	b.run(chromedp.Evaluate("drawn.length = 0", nil), b.mouse(pointer.MousePressed, x, y),
		chromedp.ActionFunc(func(ctx context.Context) error {
			for k := range moves {
				at := x + 5*float64(min(k, moves-k))
				if err := pointer.DispatchMouseEvent(pointer.MouseMoved, at, y).WithButton(pointer.Left).WithButtons(1).Do(ctx); err != nil {
					return err
				}
			}
			return nil
		}), b.mouse(pointer.MouseReleased, x, y), chromedp.Evaluate("drawn", &drawn))
	return drawn
}

// BenchmarkPage measures pages of 4 MiB at most with 1,024 and 4,096 rows in a window of 1,280 × 800: when after it was
// asked for the timeline is drawn and all else is done, what panning shows (frames a second, and the
// intervals between them: a display of 60 Hz has 16.7 ms), and what the page's own thread does for a
// frame. The browser has no graphics processor here.
func BenchmarkPage(b *testing.B) {
	for _, size := range []struct{ ranks, iterations string }{{"1024", "320"}, {"4096", "80"}} {
		b.Run(size.ranks, func(b *testing.B) { benchPage(b, size.ranks, size.iterations) })
	}
}

func benchPage(b *testing.B, ranks, iterations string) {
	dir := b.TempDir()
	for _, args := range [][]string{
		{"generate", "halo", "--ranks", ranks, "--iterations", iterations, "-o", "halo"},
		{"report", "halo", "-o", "halo.html", "--size", "16MiB"}, // it is so regular that it packs into 4
	} {
		succeed(b, dir, args...)
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
		{"all", "from=800000&to=3800000&messages=false"},
		{"zoomed", "from=100000&to=140000&messages=false"},
		{"joined", "from=100000&to=140000&critical=true"},
		{"faded", "from=800000&to=3300000&critical=true&search=Waitall"},
	} {
		b.Run(c.name, func(b *testing.B) {
			w := &browser{t: b, ctx: w.ctx}
			for k := 0; b.Loop(); k++ {
				w.run(chromedp.Navigate(fmt.Sprintf("%s?%s-%d#%s", address, c.name, k, c.hash))) // another page each time, else nothing is opened
				w.until("window.usable > 0", "true")
				var opened [2]float64
				w.run(chromedp.Evaluate("[drawn[0], usable]", &opened))
				w.until(`document.querySelector("[role=tabpanel]").childElementCount > 0`, "true")
				opening := w.busy() // with what is made after the first view
				time.Sleep(500 * time.Millisecond)
				before := w.busy()
				drawn := w.pan()
				busy := w.busy() - before
				if len(drawn) < 2 {
					b.Fatal("panning draws nothing")
				}
				intervals := make([]float64, len(drawn)-1)
				for i := range intervals {
					intervals[i] = drawn[i+1] - drawn[i]
				}
				slices.Sort(intervals)
				b.ReportMetric(float64(info.Size()), "page-bytes")
				b.ReportMetric(opened[0], "ms-to-drawn")
				b.ReportMetric(opened[1], "ms-to-usable")
				b.ReportMetric(opening*1e3, "cpu-ms-opening")
				b.ReportMetric(float64(len(intervals))/(drawn[len(drawn)-1]-drawn[0])*1e3, "frames/s")
				b.ReportMetric(intervals[len(intervals)/2], "ms-median")
				b.ReportMetric(intervals[len(intervals)*95/100], "ms-p95")
				b.ReportMetric(1e3/intervals[len(intervals)*95/100], "frames/s-p5")
				b.ReportMetric(busy*1e3/float64(len(drawn)), "cpu-ms/frame")
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
