package jsontrace

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"

	"tracekit/readers/internal/wire"
	"tracekit/trace"
	"tracekit/trace/tracetest"
)

// What is no regular file is not opened: in a directory it is a finding beside the others, alone
// it is the error.
func TestSpecialFiles(t *testing.T) {
	dir := t.TempDir()
	sound, pipe, device, lost := filepath.Join(dir, "b.json"), filepath.Join(dir, "a.json"), filepath.Join(dir,
		"c.pfw.gz"), filepath.Join(dir, "d.json")
	if err := errors.Join(syscall.Mkfifo(pipe, 0o600), os.Symlink("/dev/zero", device), os.Symlink("d.json", lost)); err != nil {
		t.Fatal(err)
	}
	if Sniff(dir, nil) || Sniff(pipe, []byte("{")) {
		t.Error("files that cannot be opened are taken for a trace")
	}
	tracetest.WriteFile(t, sound, `[{"ph":"i","ts":1}]`)
	if !Sniff(dir, nil) {
		t.Error("the trace is not recognised")
	}
	s, err := Open(context.Background(), Files(dir), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if f := s.Findings(); len(f) != 1 || f[0].Code != trace.CodeMissingFile || f[0].Count != 3 || f[0].First.File != pipe {
		t.Errorf("findings %v", f)
	}
	if len(s.Defs().Locations) != 1 {
		t.Errorf("%d locations", len(s.Defs().Locations))
	}
	if _, err := Open(context.Background(), []string{pipe, device}, Options{}); !errors.Is(err, wire.ErrNotRegular) {
		t.Error(err)
	}
	if files := Files(filepath.Join(dir, "none")); !slices.Equal(files, []string{filepath.Join(dir, "none")}) {
		t.Error(files)
	}
}
