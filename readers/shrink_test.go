package readers_test

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"tracekit/document"
	"tracekit/merge"
	"tracekit/readers"
	"tracekit/stats/analysis"
	"tracekit/trace"
	"tracekit/trace/tracetest"
)

// TestFilesThatShrink: whatever file of a trace is cut, emptied or removed after the trace was
// merged, an analysis of it fails, says that the trace has changed, or does not depend on it.
func TestFilesThatShrink(t *testing.T) {
	src, err := readers.Open(t.Context(), "../samples/archives/ring-4-plain", readers.OpenOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range []string{"copy", "copy.json.gz", "copy.prv", "copy.arrow", "copy.parquet"} {
		t.Run(f, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), f)
			writeCopy(t, src, path)
			want, err := analyzedAfter(t, path, func() error { return nil })
			if err != nil {
				t.Fatal(err)
			}
			sound := documentOf(t, want)
			for _, name := range filesOf(t, path) {
				data := tracetest.ReadFile(t, name)
				for what, shrink := range map[string]func() error{
					"cut":     func() error { return os.Truncate(name, int64(len(data)/2)) },
					"emptied": func() error { return os.Truncate(name, 0) },
					"removed": func() error { return os.Remove(name) },
				} {
					got, err := analyzedAfter(t, path, shrink)
					told := err != nil || slices.ContainsFunc(got.Findings, func(f document.Finding) bool {
						return f.Code == string(trace.CodeChangedMeanwhile)
					})
					if !told && documentOf(t, got) != sound {
						t.Errorf("%s is %s: the analysis is another, and nothing says so", name, what)
					}
					tracetest.WriteFile(t, name, data)
				}
			}
		})
	}
}

// analyzedAfter merges a trace, calls shrink, and analyses it.
func analyzedAfter(t *testing.T, path string, shrink func() error) (*analysis.Result, error) {
	src, err := readers.Open(t.Context(), path, readers.OpenOptions{})
	if err != nil {
		t.Fatal(err)
	}
	tr, err := merge.Merge(t.Context(), src, merge.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := shrink(); err != nil {
		t.Fatal(err)
	}
	a, err := analysis.Analyze(t.Context(), tr, analysis.Options{})
	return a, errors.Join(err, tr.Store.Close(), src.Close())
}

// documentOf returns an analysis as JSON.
func documentOf(t *testing.T, a *analysis.Result) string {
	text, err := json.Marshal(a)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// filesOf returns all files of a trace: those in its directory.
func filesOf(t *testing.T, path string) (files []string) {
	err := filepath.WalkDir(filepath.Dir(path), func(name string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			files = append(files, name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// TestPassesThatDiffer: whoever reads a trace twice, whatever for, is told by the source that its
// files have become shorter or longer in between; who reads what has not changed is not.
func TestPassesThatDiffer(t *testing.T) {
	short, err := readers.Open(t.Context(), "../samples/archives/ring-4-plain", readers.OpenOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range []string{"copy", "copy.arrow", "copy.parquet"} {
		for what, change := range map[string]func(string, []byte) error{
			"let be": func(string, []byte) error { return nil },
			"cut":    func(name string, data []byte) error { return os.Truncate(name, int64(len(data)*2/3)) },
		} {
			path := filepath.Join(t.TempDir(), f)
			writeCopy(t, short, path)
			src, err := readers.Open(t.Context(), path, readers.OpenOptions{})
			if err != nil {
				t.Fatal(err)
			}
			pass := func() (events int, failed error) {
				for l := range src.Defs().Locations {
					for b, err := range src.Events(t.Context(), trace.LocationID(l)) {
						if failed = errors.Join(failed, err); err == nil {
							events += b.Len()
						}
					}
				}
				return events, failed
			}
			before, err := pass()
			if err != nil {
				t.Fatal(err)
			}
			for _, name := range filesOf(t, path) {
				if ext := filepath.Ext(name); ext == ".evt" || ext != ".otf2" && ext != ".def" && ext != ".json" {
					data, err := os.ReadFile(name)
					if err == nil {
						err = change(name, data)
					}
					if err != nil {
						t.Fatal(err)
					}
				}
			}
			after, failed := pass()
			told := failed != nil || slices.ContainsFunc(src.Findings(), func(f trace.Finding) bool { return f.Code == trace.CodeChangedMeanwhile })
			if told != (before != after || failed != nil) || f == "copy" && told != (what == "cut") {
				t.Errorf("%s, %s: %d events, then %d; error %v, findings %v", f, what, before, after, failed, src.Findings())
			}
			if err := src.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}
