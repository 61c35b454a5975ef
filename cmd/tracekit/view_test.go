package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestViewStrict: a trace that has lost data is not served with --strict.
func TestViewStrict(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "cut.json"), []byte(`[{"name":"main","ph":"X","ts":1,"dur":9,"pid":0,"tid":0},
{"name":"wo`), 0o644); err != nil {
		t.Fatal(err)
	}
	out, errs, code := tracekit(t, dir, "view", "--strict", "cut.json")
	if code != 4 || strings.Contains(out, "http") || !strings.Contains(errs, "truncated") {
		t.Errorf("exit code %d, %q, %q", code, out, errs)
	}
}
