package test

import (
	"bytes"
	"compress/flate"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// A chosen cause as the page shows it.
type chosen struct {
	Headline string
	Answered bool       // it has a place in the timeline
	Pinned   string     // rows to blame, as they are named
	Over     string     // what is told of the middle of the first pinned row
	Longest  []string   // the first rows by rank
	Blamed   []string   // those of them that are marked
	Path     string     // the chosen call path in the call tree
	Before   [2]float64 // the view
	After    [2]float64
}

// chooseAll clicks on each cause, one after another, and notes what is to be seen.
const chooseAll = `(async () => {
	const drawn = () => new Promise(requestAnimationFrame), pause = ms => new Promise(r => setTimeout(r, ms)), out = []
	const view = () => { const q = new URLSearchParams(location.hash.slice(1)); return [Number(q.get("from") ?? -1), Number(q.get("to") ?? -1)] }
	const more = document.querySelector("button.more[aria-expanded=false]")
	if (more) { more.click(); await pause(50) }
	for (let k = 0, last = view(); k < document.querySelectorAll(".causes button").length; k++) {
		const c = { Before: last }, button = document.querySelectorAll(".causes button")[k]
		c.Headline = button.querySelector("b").innerText
		button.click()
		await drawn() // and with it what the page does after drawing has begun
		await drawn()
		await pause(300) // the address follows after 250
		if (button.getAttribute("aria-pressed") != "true") throw "not chosen: " + c.Headline
		c.After = last = view()
		const e = document.querySelector(".dock .blamed")
		c.Answered = e !== null
		c.Pinned = e?.innerText ?? ""
		const canvas = document.querySelector(".scroller canvas"), box = canvas.getBoundingClientRect()
		canvas.dispatchEvent(new PointerEvent("pointermove", { bubbles: true, pointerId: 1, clientX: box.left + 138 + (box.width - 146) / 2, clientY: box.top + 37 }))
		await pause(50)
		c.Over = document.querySelector(".tooltip")?.innerText ?? ""
		const rows = [...document.querySelectorAll(".ranks .rank")]
		c.Longest = rows.slice(0, 3).map(r => r.querySelector(".name").innerText)
		c.Blamed = rows.filter(r => r.matches(".culprit")).map(r => r.querySelector(".name").innerText)
		c.Path = document.querySelector("#panel tr.chosen td")?.innerText.trim() ?? ""
		out.push(c)
	}
	return JSON.stringify(out)
})()`

// cause is what the analysis says of one.
type cause struct {
	Kind, Headline string
	Region         *string
	Operation      *string
	Ranks          []int
	Evidence       map[string]float64
}

// TestEveryCauseIsAnswered: of each trace, each cause that is chosen shows who is to blame: their rows are pinned and named, what the
// cause is about lies in the middle of the first, the bars by rank mark them, and its call path is chosen. A cause without a place in the
// timeline leaves the view as it is. One about a worker of a training job shows that in its worst step.
func TestEveryCauseIsAnswered(t *testing.T) {
	traces, err := filepath.Glob("../../samples/archives/*")
	if err != nil || len(traces) == 0 {
		t.Fatal("no samples", err)
	}
	if shared := os.Getenv("TRACEKIT_SHARED"); shared != "" {
		traces = append(traces, tracesIn(t, filepath.Join(shared, "traces"))...)
	}
	for _, path := range traces {
		t.Run(filepath.Base(filepath.Dir(path))+"/"+filepath.Base(path), func(t *testing.T) { everyCause(t, path) })
	}
}

// extensions are those of traces; what is none of these is no page, and is skipped.
var extensions = []string{".otf2", ".prv", ".json", ".sqlite", ".db", ".pftrace", ".xplane.pb", ".parquet"}

// tracesIn returns files and directories that are traces.
func tracesIn(t *testing.T, root string) (found []string) {
	t.Helper()
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch name := filepath.Base(path); {
		case err != nil:
			return err
		case slices.ContainsFunc(extensions, func(e string) bool { return strings.HasSuffix(name, e) || strings.HasSuffix(name, e+".gz") }):
			found = append(found, path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func everyCause(t *testing.T, path string) {
	dir := t.TempDir()
	path, err := filepath.Abs(path)
	if err != nil {
		t.Fatal(err)
	}
	if out, err := tracekit(t, dir, "report", "-q", path, "-o", "page.html").CombinedOutput(); err != nil {
		t.Skipf("no page: %v %.100s", err, out) // not every file is a trace
	}
	var doc struct{ Diagnosis []cause }
	if err := json.NewDecoder(flate.NewReader(base64.NewDecoder(base64.StdEncoding,
		documentOf(t, filepath.Join(dir, "page.html"))))).Decode(&doc); err != nil {
		t.Fatal(err)
	}
	if len(doc.Diagnosis) == 0 {
		return
	}
	b := browse(t, "file://"+filepath.Join(dir, "page.html"))
	b.until(timelineHigh, "true")
	var text string
	b.run(chromedp.Evaluate(chooseAll, &text, func(p *runtime.EvaluateParams) *runtime.EvaluateParams { return p.WithAwaitPromise(true) }))
	var all []chosen
	if err := json.Unmarshal([]byte(text), &all); err != nil {
		t.Fatal(err)
	}
	if len(all) != len(doc.Diagnosis) {
		t.Fatalf("%d causes on the page, %d in the document", len(all), len(doc.Diagnosis))
	}
	for _, c := range all {
		k := slices.IndexFunc(doc.Diagnosis, func(d cause) bool { return d.Headline == c.Headline })
		if k < 0 {
			continue // of a path in the headline the page shows the file alone
		}
		t.Logf("%s: %s; over it %.60q; longest %q", c.Headline, c.Pinned, c.Over, c.Longest)
		c.check(t, &doc.Diagnosis[k])
	}
}

// documentOf returns the document in a page, packed as it is there.
func documentOf(t *testing.T, path string) io.Reader {
	t.Helper()
	page, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	_, begin, _ := bytes.Cut(page, []byte(`id="document">`))
	packed, _, found := bytes.Cut(begin, []byte("<"))
	if !found {
		t.Fatal("the page has no document")
	}
	return bytes.NewReader(packed)
}

// check reports what of an answer is missing.
func (c *chosen) check(t *testing.T, d *cause) {
	t.Helper()
	if _, worker := d.Evidence["step_gain_ns"]; worker && !c.Answered && c.After != c.Before { // in its worst step
		if !strings.Contains(c.Over, "rank ") || len(d.Ranks) > 0 && !slices.ContainsFunc(d.Ranks,
			func(r int) bool { return strings.Contains(c.Over, fmt.Sprintf("rank %d ", r)) }) {
			t.Errorf("%q: over the first row stands %q, not what a worker does", c.Headline, c.Over)
		}
		return
	}
	if !c.Answered {
		if c.After != c.Before {
			t.Errorf("%q has no place, and moves the view from %v to %v", c.Headline, c.Before, c.After)
		}
		if d.Operation != nil && d.Kind != "measurement" {
			t.Errorf("%q is about %s, and has no place", c.Headline, *d.Operation)
		}
		return
	}
	first, _, _ := strings.Cut(c.Pinned, ", rank ")
	first, _, _ = strings.Cut(first, ", stream ")
	if first == "" || !strings.Contains(c.Over, first) {
		t.Errorf("%q: the first row is named %q, and over it stands %q", c.Headline, first, c.Over)
	}
	if len(d.Ranks) > 0 && !slices.ContainsFunc(d.Ranks,
		func(r int) bool { return strings.HasPrefix(c.Pinned, "rank ") && numberIn(c.Pinned) == r }) {
		t.Errorf("%q is about ranks %v, and blames %s", c.Headline, d.Ranks, c.Pinned)
	}
	if len(c.Blamed) == 0 || !slices.ContainsFunc(c.Longest, func(name string) bool { return slices.Contains(c.Blamed, name) }) {
		t.Errorf("%q: by rank the first are %q, those to blame %q", c.Headline, c.Longest, c.Blamed)
	}
	if c.After == [2]float64{-1, -1} && c.Before != c.After {
		t.Errorf("%q: the view was reset from %v", c.Headline, c.Before)
	}
	if d.Operation != nil && c.Path == "" {
		t.Errorf("%q is about %s: no call path is chosen", c.Headline, *d.Operation)
	}
	if about := d.Operation; about != nil && d.Kind != "device_idle" && d.Kind != "data_loading" && !strings.Contains(c.Over, *about) {
		t.Errorf("%q is about %s: in the middle of %s stands %q", c.Headline, *about, first, c.Over)
	}
}

// numberIn returns the first number of a text, -1: it has none.
func numberIn(text string) int {
	n, found := 0, false
	for _, r := range text {
		if r >= '0' && r <= '9' {
			n, found = 10*n+int(r-'0'), true
		} else if found {
			break
		}
	}
	if !found {
		return -1
	}
	return n
}
