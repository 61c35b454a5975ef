package paraver

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"tracekit/readers/internal/wire"
	"tracekit/trace"
)

// What is no regular file is not opened: beside the trace it is a finding, in its place the error.
func TestSpecialFiles(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.prv")
	if err := errors.Join(os.WriteFile(path, ring(1000), 0o600), syscall.Mkfifo(stem(path)+".pcf", 0o600),
		os.Symlink("/dev/zero", stem(path)+".row")); err != nil {
		t.Fatal(err)
	}
	s := openFor(t, path)
	if found(s, trace.CodeMissingFile) != 1 || found(s, trace.CodeMissingNames) != 1 {
		t.Errorf("findings %v", s.Findings())
	}
	for _, special := range []string{stem(path) + ".pcf", "/dev/zero", filepath.Dir(path)} {
		if _, err := Open(context.Background(), special, Options{}); !errors.Is(err, wire.ErrNotRegular) {
			t.Errorf("%s: %v", special, err)
		}
	}
}
