package otf2

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"tracekit/readers/internal/wire"
)

// TestMembersThatShrink: what a location's files said when the archive was opened, or read for
// the first time, is not mixed with what is left of them later.
func TestMembersThatShrink(t *testing.T) {
	for _, member := range []string{"3.def", "3.evt"} {
		for what, shrink := range map[string]func(path string) error{
			"cut":     func(path string) error { return os.Truncate(path, 40) },
			"emptied": func(path string) error { return os.Truncate(path, 0) },
			"removed": os.Remove,
		} {
			anchor := goldenArchive(t, "mapping", false)
			s, err := Open(context.Background(), anchor, 0)
			if err != nil {
				t.Fatal(err)
			}
			paths, _ := filepath.Glob(filepath.Join(filepath.Dir(anchor), "*", member))
			if err := checkSource(s); err != nil || len(paths) != 1 {
				t.Fatal(paths, err)
			}
			if err := shrink(paths[0]); err != nil {
				t.Fatal(err)
			}
			if err := checkSource(s); !errors.Is(err, wire.ErrFileChanged) {
				t.Errorf("%s is %s: %v", member, what, err)
			}
		}
	}
}
