package jsontrace_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"tracekit/readers/jsontrace"
)

// TestDevicesOfFiles: devices of one name in files that are no ranks of a job have the names of their files.
func TestDevicesOfFiles(t *testing.T) {
	dir := t.TempDir()
	var paths []string
	for _, name := range []string{"serve.json", "train.json"} {
		paths = append(paths, filepath.Join(dir, name))
		if err := os.WriteFile(paths[len(paths)-1], []byte(`{"schemaVersion":1,"traceEvents":[`+
			`{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":1,"dur":2,"args":{"device":0,"stream":7}}]}`), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s, err := jsontrace.Open(t.Context(), paths, jsontrace.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	var names []string
	for _, g := range s.Defs().LocationGroups {
		names = append(names, s.Defs().String(g.Name))
	}
	if want := []string{"serve: device 0", "train: device 0"}; !slices.Equal(names, want) {
		t.Errorf("%q, want %q", names, want)
	}
}
