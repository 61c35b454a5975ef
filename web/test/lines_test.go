package test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// regexpFile finds the first file that a document names.
var regexpFile = regexp.MustCompile(`"file": "([^"]+)"`)

// tab opens a tab of the page by its address.
func (b *browser) tab(address string) {
	b.t.Helper()
	b.run(chromedp.Evaluate(`location.hash = "`+address+`"`, nil))
	id, _, _ := strings.Cut(strings.TrimPrefix(address, "tab="), "&")
	b.until(`document.querySelector("[role=tab][aria-selected=true]")?.id`, "tab-"+id)
}

// text returns the text of what a selector finds first.
func (b *browser) text(selector string) string {
	b.t.Helper()
	return b.eval(`document.querySelector("` + selector + `")?.innerText`)
}

// TestPageShowsLinesAndSource: behind a line is the histogram of its calls, with as many calls as it
// makes; its source stands beside its costs, and a file with markup in it stays text.
func TestPageShowsLinesAndSource(t *testing.T) {
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "src"), 0o755); err != nil {
		t.Fatal(err)
	}
	source := strings.Repeat("int x;\n", 199) + "</script><script>document.title = 'broken'</script>\n" + strings.Repeat("\tint y;\n", 200)
	succeed(t, dir, "generate", "halo", "--ranks", "8", "--iterations", "60", "--imbalance", "20000", "-o", "halo")
	out := succeed(t, dir, "analyze", "--quiet", "--json", "halo")
	file := regexpFile.FindStringSubmatch(out)
	if file == nil {
		t.Fatal("the trace names no file")
	}
	writeFile(t, filepath.Join(dir, "src", filepath.Base(file[1])), source)
	succeed(t, dir, "report", "--source", "src", "halo", "-o", "halo.html")
	b := browse(t, "file://"+filepath.Join(dir, "halo.html"))

	b.tab("tab=lines")
	b.run(chromedp.Click("tbody tr.choosable"))
	b.until(`document.querySelectorAll("tr.detail .histogram").length`, "1")
	b.run(chromedp.SetValue(".filter input", "MPI_Allreduce"),
		chromedp.Evaluate(`document.querySelector(".filter input").dispatchEvent(new Event("input", {bubbles: true}))`, nil))
	b.until(`[...document.querySelectorAll("tbody tr.choosable td:nth-child(1)")].every(e => e.innerText == "MPI_Allreduce")`, "true")
	b.until(`document.querySelectorAll("tr.detail .histogram").length`, "1")
	calls := b.text("tr.chosen td:nth-child(3)")
	if got := b.text("tr.detail figcaption"); !strings.Contains(got, calls+" calls") || !strings.Contains(got, "t_max") {
		t.Errorf("the line has %s calls, its histogram says %q", calls, got)
	}
	b.until(`location.hash.includes("line=")`, "true") // the address keeps it

	b.tab("tab=source")
	if got := b.text("h1"); b.eval("document.title") == "broken" || got == "" {
		t.Error("a source file became markup")
	}
	b.until(`document.querySelectorAll(".code tr.costly, .code tr.chosen").length > 1`, "true")
	if got := b.text(".code tbody tr:nth-child(200) code"); !strings.Contains(got, "</script>") {
		t.Errorf("line 200 is shown as %q", got)
	}

	b.tab("tab=communication")
	for _, c := range []struct{ matrix, want string }{{"messages", "Messages from"}, {"time", "Latency from"}, {"waits", "Waiting from"},
		{"bytes", "Bytes from"}} {
		b.tab("tab=communication&matrix=" + c.matrix)
		b.until(`document.querySelector(".matrix figcaption").innerText.startsWith("`+c.want+`")`, "true")
	}
	if got := b.eval(`document.querySelectorAll(".matrix .cell").length`); got == "0" {
		t.Error("the matrix has no cells")
	}
}
