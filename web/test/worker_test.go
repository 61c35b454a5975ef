package test

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
)

// TestWithoutWorker: a browser that gives the page no further thread, or one that fails, shows the same timeline and call paths.
func TestWithoutWorker(t *testing.T) {
	dir := made(t, "generate halo --ranks 8 --iterations 20 --imbalance 20000 -o halo", "report halo -o halo.html")
	const shown = `document.querySelector(".scroller canvas").toDataURL() + document.querySelector("[role=tabpanel]").innerText`
	var want string
	for _, worker := range []string{"window.Worker", "undefined", "class { constructor() { throw 'none' } }",
		"class { postMessage() { setTimeout(() => this.onerror()) } terminate() {} }",
		"class { postMessage() { setTimeout(() => this.onmessage({ data: null })) } terminate() {} }"} {
		b := newBrowser(t)
		b.run(chromedp.EmulateViewport(1280, 800), chromedp.ActionFunc(func(ctx context.Context) error {
			_, err := page.AddScriptToEvaluateOnNewDocument("window.Worker = " + worker).Do(ctx)
			return err
		}), chromedp.Navigate("file://"+filepath.Join(dir, "halo.html")), chromedp.WaitVisible("[role=tabpanel] > *"))
		got := b.eval(shown)
		if want == "" {
			want = got
		}
		if got != want {
			t.Errorf("Worker is %s: the page looks different", worker)
		}
	}
}
