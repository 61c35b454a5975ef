package test

import (
	"path/filepath"
	"strings"
	"testing"
)

// TestTablesHaveValues states that all tables of an analysis find what their columns name: no cell shows what is no value, and each
// part has the tables that it should, under titles that begin with a capital.
func TestTablesHaveValues(t *testing.T) {
	dir := t.TempDir()
	writeFile(t, filepath.Join(dir, "devices.json"), deviceCalls)
	writeFile(t, filepath.Join(dir, "files.json"), fileCalls)
	succeed(t, dir, "generate", "halo", "--ranks", "4", "--threads", "3", "--iterations", "20", "--imbalance", "20000", "-o", "halo")
	for trace, parts := range map[string]map[string]string{
		"halo": {"waits": "Wait states,What makes other ranks wait,Critical path",
			"lines":         "What each source line costs: choose one to see how long its calls take",
			"communication": "Heaviest pairs,Collectives", "profile": "Time by region", "threads": "Threads", "phases": "Phases"},
		"devices.json": {"devices": "Devices,What devices execute,Critical path through hosts and devices,The longest times in which a device " +
			"idles,What devices idle before, by what launches it,Bandwidth of collectives,Streams"},
		"files.json": {"files": "What is done to files,Sizes of accesses"},
	} {
		succeed(t, dir, "report", trace, "-o", trace+".html")
		b := browse(t, "file://"+filepath.Join(dir, trace+".html"))
		for part, want := range parts {
			b.tab("tab=" + part)
			b.until(`[...document.querySelectorAll("#panel caption")].map(c => c.innerText).join()`, want)
			text := b.eval(`document.querySelector("#panel").innerText`)
			for _, no := range []string{"undefined", "NaN", "[object"} {
				if strings.Contains(text, no) {
					t.Errorf("%s, %s shows %s: %s", trace, part, no, text)
				}
			}
			b.until(`[...document.querySelectorAll("#panel th button")].every(e => !/^[a-z]/.test(e.innerText))`, "true")
		}
	}
}
