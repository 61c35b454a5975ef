//go:build unix

package tempfile

import (
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// TestModes states that files and directories have the mode that the user wants, and a name of their own beside the one that they get.
func TestModes(t *testing.T) {
	for _, mask := range []int{0, 0o022, 0o027, 0o077} {
		old := syscall.Umask(mask)
		path := filepath.Join(t.TempDir(), "out")
		f, err := Create(path)
		if err != nil {
			t.Fatal(err)
		}
		again, err := Create(path)
		if err != nil || again.Name() == f.Name() {
			t.Fatalf("a second file is %s beside %s: %v", again.Name(), f.Name(), err)
		}
		dir, err := Mkdir(path)
		syscall.Umask(old)
		if err != nil {
			t.Fatal(err)
		}
		for name, all := range map[string]fs.FileMode{f.Name(): 0o666, dir: 0o777} {
			info, err := os.Stat(name)
			if err != nil || info.Mode().Perm() != all&^fs.FileMode(mask) || filepath.Dir(name) != filepath.Dir(path) {
				t.Errorf("umask %o: %s has mode %o: %v", mask, name, info.Mode().Perm(), err)
			}
		}
	}
	if _, err := Create(filepath.Join(t.TempDir(), "missing", "out")); err == nil {
		t.Error("a file is made in a directory that does not exist")
	}
}
