package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tracekit/trace/tracetest"
)

// TestReportDirectoryIsOfOneTrace: with --force nothing of the trace before is left, what
// tracekit did not write stays, and none of it is overwritten.
func TestReportDirectoryIsOfOneTrace(t *testing.T) {
	zoo, plain := sampleArchive(t, "zoo-4"), sampleArchive(t, "ring-4-plain")
	dir := t.TempDir()
	report := func(want int, args ...string) string {
		t.Helper()
		_, stderr, code := tracekit(t, dir, append([]string{"analyze", "-q"}, args...)...)
		if code != want {
			t.Fatalf("exit code %d, want %d: %s", code, want, stderr)
		}
		return stderr
	}
	report(exitDone, zoo, "-o", "report")
	first := contentsOf(t, filepath.Join(dir, "report"))
	note := filepath.Join(dir, "report", "tables", "note.txt")
	tracetest.WriteFile(t, note, "mine")
	report(exitUsage, plain, "-o", "report")
	report(exitDone, plain, "-o", "report", "--force")
	report(exitDone, plain, "-o", "fresh")
	got, want := contentsOf(t, filepath.Join(dir, "report")), contentsOf(t, filepath.Join(dir, "fresh"))
	if got["/tables/note.txt"] != "mine" {
		t.Error("a file of the user's is gone")
	}
	delete(got, "/tables/note.txt")
	for name := range got {
		if _, ok := want[name]; !ok {
			t.Errorf("%s is left of another trace", name)
		}
	}
	if len(first) <= len(want) || len(got) != len(want) {
		t.Errorf("%d files of the first trace, %d of the second, %d in the directory of both", len(first), len(want), len(got))
	}

	if err := os.Mkdir(filepath.Join(dir, "mine"), 0o755); err != nil {
		t.Fatal(err)
	}
	report(exitDone, plain, "-o", "mine") // it was empty
	if err := os.Remove(filepath.Join(dir, "mine", "contents.txt")); err != nil {
		t.Fatal(err)
	}
	before := contentsOf(t, filepath.Join(dir, "mine"))
	if stderr := report(exitUsage, plain, "-o", "mine", "--force"); !strings.Contains(stderr, "did not write") {
		t.Error(stderr)
	}
	if after := contentsOf(t, filepath.Join(dir, "mine")); len(after) != len(before) {
		t.Errorf("%d files, were %d", len(after), len(before))
	}
}

// TestMessagesAreForPeople gives every command something wrong: no message names a function
// of Go or of the system.
func TestMessagesAreForPeople(t *testing.T) {
	archive := sampleArchive(t, "ring-4-plain")
	dir, file := t.TempDir(), filepath.Join(t.TempDir(), "t.json")
	tracetest.WriteFile(t, file, "[]")
	for _, c := range []struct {
		args string
		want string
	}{
		{"info --jobs x y", `--jobs "x": want a whole number`},
		{"analyze nowhere", "nowhere: no such file or directory"},
		{"analyze --top 1.5 y", `--top "1.5": want a whole number`},
		{"fit --quantile x y", `--quantile "x": want a number`},
		{"generate halo --seed -1 -o x", "want a whole number, not below 0"},
		{"info --counts=maybe y", "want true or false"},
		{"analyze --profile nowhere y", "nowhere: no such file or directory"},
		{"convert ARCHIVE x.csv", "x.csv: unknown extension .csv; want a directory or a name that ends in .otf2, .prv"},
		{"convert ARCHIVE x.csv --force", "unknown extension .csv"},
		{"generate ring -o x.prw", "unknown extension"},
		{"generate ring -o x.tkf", "'tracekit compress'"},
		{"reconstruct ARCHIVE -o x.dat", "unknown extension"},
		{"compress ARCHIVE -o x.zip", "want a name that ends in .tkf"},
		{"fit ARCHIVE -o x.txt", "want a name that ends in .json"},
		{"fit TRACE -o TRACE --force", "t.json is an input trace; choose another file"},
		{"report TRACE -o TRACE --force", "want a name that ends in .html"},
		{"spacetime ARCHIVE -o x.gif", ".png or .svg"},
		{"analyze ARCHIVE -o x.json", "-o names a directory"},
		{"man /dev/null/x", "/dev/null"},
		{"compress ARCHIVE -o nowhere/x.tkf", "there is no directory nowhere"},
	} {
		_, stderr, code := tracekit(t, dir, strings.Fields(strings.NewReplacer("ARCHIVE", archive, "TRACE", file).Replace(c.args))...)
		if code == exitDone || !strings.Contains(stderr, c.want) {
			t.Errorf("%s: exit code %d, %q, want %q", c.args, code, stderr, c.want)
		}
		for _, word := range []string{"strconv", "stat ", "open ", "mkdir", "invalid syntax", "invalid argument"} {
			if strings.Contains(stderr, word) {
				t.Errorf("%s: %q says %q", c.args, stderr, word)
			}
		}
	}
	if left, _ := os.ReadDir(dir); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// TestTraceWithoutMPI: threads that compute side by side have no efficiency of MPI, and
// nobody waits for anybody.
func TestTraceWithoutMPI(t *testing.T) {
	dir := t.TempDir()
	text := `{"traceEvents":[{"ph":"X","name":"solve","pid":1,"tid":1,"ts":0,"dur":100},{"ph":"X","name":"solve","pid":2,"tid":1,"ts":0,"dur":60}]}`
	tracetest.WriteFile(t, filepath.Join(dir, "x.json"), text)
	report, _, code := tracekit(t, dir, "analyze", "--full", "x.json")
	if code != exitDone {
		t.Errorf("exit code %d:\n%s", code, report)
	}
	for _, word := range []string{"load balance", "MPI", "Wait states", "outside MPI", "Critical path", "imbalance"} {
		if strings.Contains(report, word) {
			t.Errorf("the report says %q:\n%s", word, report)
		}
	}
	document, _, _ := tracekit(t, dir, "analyze", "--json", "x.json")
	if strings.Contains(document, `"efficiency"`) {
		t.Error("the document has an efficiency")
	}
	if _, stderr, code := tracekit(t, dir, "analyze", "--fail-if", "efficiency.parallel_efficiency<0.8", "x.json"); code != exitUsage ||
		!strings.Contains(stderr, "no top-level key efficiency") {
		t.Errorf("a gate on it: exit code %d, %s", code, stderr)
	}
}
