package trace

import (
	"path/filepath"
	"testing"
)

// TestFilesPath states what traces of several files are called by.
func TestFilesPath(t *testing.T) {
	for want, paths := range map[string][]string{
		"a/x":                     {"a/x"},
		"a/x and 1 more":          {"a/x", "a/y"},
		"run (3 files)":           {"run/host-a/x", "run/host-a/y", "run/host-b/x"},
		"/run (2 files)":          {"/run/a/b/x", "/run/ab/x"},
		"run/a/x and 1 more":      {"run/a/x", "run/a/b/x"},
		"x and 1 more":            {"x", "y"},
		"a/x and 2 more":          {"a/x", "b/x", "c/x"},
		"/a/x and 1 more":         {"/a/x", "/b/x"},
		"../run/1 (2 files)":      {"../run/1/a/x", "../run/1/b/x"},
		"run/1/deep/x and 1 more": {"run/1/deep/x", "run/1/deep/y"},
	} {
		for i, p := range paths {
			paths[i] = filepath.FromSlash(p)
		}
		if got := filepath.ToSlash(FilesPath(paths)); got != want {
			t.Errorf("%v: %q, want %q", paths, got, want)
		}
	}
}
