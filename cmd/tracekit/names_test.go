package main

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"tracekit/trace/tracetest"
)

// TestLongNames: documents repeat names in every row, so a name of any length does not make
// one of any length, and what is left out is said: where the trace is opened, or by its reader.
func TestLongNames(t *testing.T) {
	dir := t.TempDir()
	name := strings.Repeat("long", 1<<20)
	text := fmt.Sprintf(`{"traceEvents":[{"name":%q,"ph":"X","ts":1,"dur":5,"pid":0,"tid":0},{"name":"b","ph":"X","ts":2,"dur":1,"pid":0,"tid":0}]}`, name)
	tracetest.WriteFile(t, filepath.Join(dir, "x.json"), text)
	out, errs, code := tracekit(t, dir, "analyze", "--json", "x.json")
	if code != exitDone || len(out) > 1<<20 || !strings.Contains(out, `"long_name"`) && !strings.Contains(out, `"limit_exceeded"`) {
		t.Errorf("exit code %d, %d bytes, %s", code, len(out), errs)
	}
}
