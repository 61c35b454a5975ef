package jsontrace_test

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"tracekit/readers/jsontrace"
	"tracekit/trace"
	"tracekit/trace/tracetest"
)

var update = flag.Bool("update", false, "write the goldens")

// A golden is an archive of the files of a trace, each named *.json, with the last file
// want: the trace in text form and its findings, or the error. The comment says what it is
// about; a line "align start" in it sets that option.
func TestGoldens(t *testing.T) {
	paths, err := filepath.Glob("testdata/goldens/*.txtar")
	if err != nil || len(paths) == 0 {
		t.Fatal("no goldens", err)
	}
	for _, path := range paths {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txtar"), func(t *testing.T) {
			checkGolden(t, path)
		})
	}
}

func checkGolden(t *testing.T, path string) {
	a, err := txtar.ParseFile(path)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	var files []string
	var want []byte
	keep := a.Files[:0]
	for _, f := range a.Files {
		if f.Name == "want" {
			want = f.Data
			continue
		}
		keep = append(keep, f)
		name := filepath.Join(dir, f.Name)
		// A file that must not end in a line feed ends in one more with a backslash.
		data := bytes.TrimSuffix(f.Data, []byte("\\\n"))
		tracetest.WriteFile(t, name, data)
		files = append(files, name)
	}
	var options jsontrace.Options
	if strings.Contains(string(a.Comment), "align start") {
		options.Align = jsontrace.AlignStart
	}
	got := strings.ReplaceAll(outcome(t, files, options), dir+"/", "")
	if *update {
		a.Files = append(keep, txtar.File{Name: "want", Data: []byte(got)})
		tracetest.WriteFile(t, path, txtar.Format(a))
		return
	}
	if d := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got, "\n")); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

// outcome reads a trace and renders it with its findings.
func outcome(t testing.TB, files []string, options jsontrace.Options) string {
	s, err := jsontrace.Open(context.Background(), files, options)
	if err != nil {
		return "error: " + err.Error() + "\n"
	}
	defer s.Close()
	if err := s.Defs().Check(); err != nil {
		t.Error(err)
	}
	var b strings.Builder
	b.WriteString(tracetest.MustFormat(t, s))
	for _, f := range s.Findings() {
		fmt.Fprintf(&b, "finding %s %d: %s (", f.Code, f.Count, f.Text)
		if f.First.Location != trace.None {
			fmt.Fprintf(&b, "location %d, ", f.First.Location)
		}
		fmt.Fprintf(&b, "%s at %d)\n", f.First.File, f.First.Offset)
	}
	return b.String()
}
