package test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// violations runs axe, and says in a line each which of its rules the page breaks, where and how.
const violations = `axe.run(document, { resultTypes: ["violations"] }).then(r => r.violations.flatMap(v => v.nodes.slice(0, 5).map(n => v.id + ": " + n.target.join(" ") + ": " + n.failureSummary.replace(/\s+/g, " ").slice(0, 300))).join("\n"))`

// TestAccessible: axe, which looks for what shuts people out, finds nothing on any part of pages, light and dark.
func TestAccessible(t *testing.T) {
	axe, err := os.ReadFile("../node_modules/axe-core/axe.min.js")
	if err != nil {
		t.Skip("needs axe-core: npm ci in web")
	}
	dir := made(t, "generate halo --ranks 4 --threads 2 --iterations 20 --imbalance 20000 -o a",
		"generate halo --ranks 8 --iterations 20 -o b",
		"generate training --dp 2 --pp 4 --slow-worker 5=1.5 --iterations 10 -o job", "report a -o one.html", "report a b -o two.html",
		"report job -o job.html")
	writeFile(t, filepath.Join(dir, "device.json"), deviceCalls)
	succeed(t, dir, "report", "device.json", "-o", "device.html")
	for _, page := range []string{"one", "device", "two", "job"} {
		for _, theme := range []string{"light", "dark"} {
			t.Run(page+" "+theme, func(t *testing.T) {
				b := browse(t, "file://"+filepath.Join(dir, page+".html"))
				b.run(emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: theme}}),
					chromedp.Evaluate(string(axe), nil))
				check := func(where string) {
					t.Helper()
					var found string
					b.run(chromedp.Evaluate(violations, &found,
						func(p *runtime.EvaluateParams) *runtime.EvaluateParams { return p.WithAwaitPromise(true) }))
					if found != "" {
						t.Errorf("%s:\n%s", where, found)
					}
				}
				check("as opened")
				b.run(chromedp.Evaluate(`document.querySelector(".causes button")?.click()`, nil))
				check("with a cause chosen")
				for _, shape := range []string{"shape=flame&grid=-2", "shape=callers&metric=waiting"} {
					b.run(chromedp.Evaluate(`location.hash = "`+shape+`"`, nil))
					check(shape)
				}
				var tabs []string
				b.run(chromedp.Evaluate(`[...document.querySelectorAll("[role=tab]")].map(e => e.id)`, &tabs))
				for _, tab := range tabs {
					b.run(chromedp.Click("#" + tab))
					b.until(`document.querySelector("[role=tab][aria-selected=true]").id`, tab)
					check(tab)
				}
			})
		}
	}
}
