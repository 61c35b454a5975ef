package wire

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// What is no regular file is named, and not opened: that of a pipe without a writer would not
// return.
func TestOpenRegular(t *testing.T) {
	dir := t.TempDir()
	path := func(name string) string { return filepath.Join(dir, name) }
	if err := errors.Join(os.WriteFile(path("file"), []byte("abc"), 0o600), syscall.Mkfifo(path("pipe"), 0o600),
		os.Symlink("pipe", path("link")), os.Symlink("loop", path("loop"))); err != nil {
		t.Fatal(err)
	}
	f, size, err := OpenRegular(path("file"))
	if err != nil || size != 3 {
		t.Fatalf("size %d, %v", size, err)
	}
	f.Close()
	for name, want := range map[string]string{
		path("pipe"): "is a named pipe, not a regular file",
		path("link"): "is a named pipe, not a regular file",
		"/dev/zero":  "is a device, not a regular file",
		dir:          "is a directory, not a regular file",
	} {
		if _, _, err := OpenRegular(name); !errors.Is(err, ErrNotRegular) || !strings.Contains(err.Error(), name+" "+want) {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := Open(name); !errors.Is(err, ErrNotRegular) {
			t.Errorf("span of %s: %v", name, err)
		}
	}
	if _, _, err := OpenRegular(path("none")); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	if _, _, err := OpenRegular(path("loop")); err == nil || errors.Is(err, ErrNotRegular) {
		t.Error(err)
	}
}
