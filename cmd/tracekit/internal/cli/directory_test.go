package cli

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tracekit/readers"
	"tracekit/trace/tracetest"
)

// TestReportDirectoryAtomic: a report appears whole or not at all, and one that is there
// stays.
func TestReportDirectoryAtomic(t *testing.T) {
	parent := t.TempDir()
	broken := errors.New("broken")
	d := newReportDir(filepath.Join(parent, "new"))
	d.JSON("folder/a.json", 1)
	if err := d.close(t.Context(), 1, broken); !errors.Is(err, broken) {
		t.Error(err)
	}
	if left, _ := os.ReadDir(parent); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
	d = newReportDir(filepath.Join(parent, "new"))
	d.JSON("folder/a.json", 1)
	if err := d.close(t.Context(), 1, nil); err != nil {
		t.Error(err)
	}
	d = newReportDir(filepath.Join(parent, "new"))
	d.JSON("b.json", func() {})
	if err := d.close(t.Context(), 1, nil); err == nil {
		t.Error("a function was written as JSON")
	}
	if _, err := os.Stat(filepath.Join(parent, "new", "folder", "a.json")); err != nil {
		t.Error(err)
	}
	if left, _ := os.ReadDir(parent); len(left) != 1 {
		t.Errorf("left behind: %v", left)
	}
}

// TestReportDirectoryIsNoTrace: a name that stands for a trace is not made a directory of reports.
func TestReportDirectoryIsNoTrace(t *testing.T) {
	for _, extension := range append(strings.Split(readers.Extensions(), ", "), ".tkf", ".PRV", ".html") {
		if err := checkReportDir(filepath.Join(t.TempDir(), "x"+extension), false); err == nil ||
			!strings.Contains(err.Error(), "but the name ends in") {
			t.Errorf("%s: %v", extension, err)
		}
	}
	if err := checkReportDir(filepath.Join(t.TempDir(), "run-1.5"), false); err != nil {
		t.Error(err)
	}
}

// TestContentsAreNotBelieved: a list of files that leads out of the directory removes
// nothing there.
func TestContentsAreNotBelieved(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"victim", "report/a"} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		tracetest.WriteFile(t, filepath.Join(dir, name), "")
	}
	list := contentsHead + "../victim\n" + filepath.Join(dir, "victim") + "\na\nmissing\n.\n"
	tracetest.WriteFile(t, filepath.Join(dir, "report", contentsFile), list)
	names, err := readContents(filepath.Join(dir, "report"))
	if want := []string{"a", contentsFile}; err != nil || !slices.Equal(names, want) {
		t.Errorf("%q, %v, want %q", names, err, want)
	}
}
