package readers_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"tracekit/merge"
	"tracekit/readers"
	"tracekit/trace"
	"tracekit/trace/tracetest"
)

// TestOutlines states that merging finds the same with the outlines of a source as by reading all events.
func TestOutlines(t *testing.T) {
	outlines := 0
	for _, path := range accelerated(t) {
		src, err := readers.Open(t.Context(), path, readers.OpenOptions{})
		if err != nil {
			t.Fatal(err)
		}
		defer src.Close()
		for l := range src.Defs().Locations {
			if src.(trace.Outliner).Outline(trace.LocationID(l)) != nil {
				outlines++
			}
		}
		known := mergedOf(t, src)
		read := mergedOf(t, struct{ trace.Source }{src})
		for _, of := range []func(*trace.Trace) any{
			func(t *trace.Trace) any { return t.Tree.Nodes },
			func(t *trace.Trace) any { return t.Span },
			func(t *trace.Trace) any { return t.Findings },
			func(t *trace.Trace) any { return t.Coverage },
		} {
			if diff := cmp.Diff(of(read), of(known), cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("%s (-read +known):\n%s", path, diff)
			}
		}
	}
	if outlines < 30 {
		t.Errorf("%d outlines", outlines)
	}
}

func mergedOf(t *testing.T, src trace.Source) *trace.Trace {
	t.Helper()
	tr, err := merge.Merge(t.Context(), src, merge.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { tr.Store.Close() })
	return tr
}

// accelerated returns the files of recorders of accelerators: ours, and those of the folder of further traces if it is there.
func accelerated(t *testing.T) (paths []string) {
	t.Helper()
	roots := []string{"."}
	if more := filepath.Join(tracetest.SharedFolder(), "recorders"); exists(more) {
		roots = append(roots, more)
	}
	for _, root := range roots {
		err := filepath.WalkDir(root, func(path string, _ fs.DirEntry, err error) error {
			if filepath.Base(path) == "internal" {
				return filepath.SkipDir
			}
			for _, end := range []string{".sqlite", ".db", ".pftrace", ".xplane.pb"} {
				if strings.HasSuffix(path, end) {
					paths = append(paths, path)
				}
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return paths
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
