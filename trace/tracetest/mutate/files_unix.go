//go:build unix

package mutate

import (
	"os"
	"path/filepath"
	"syscall"
)

// A FileKind is a kind of damage that puts something else in the place of a file.
type FileKind struct {
	Name string
	put  func(path string) error // there is no file
}

// Replace puts what is of that kind in the place of a file.
func (k FileKind) Replace(path string) error {
	if err := os.Remove(path); err != nil {
		return err
	}
	return k.put(path)
}

// Special are the kinds that leave something that is no file.
var Special = []FileKind{
	{"directory", func(path string) error { return os.Mkdir(path, 0o777) }},
	{"FIFO", func(path string) error { return syscall.Mkfifo(path, 0o666) }},
	{"symlink loop", func(path string) error { return os.Symlink(filepath.Base(path), path) }},
	{"device", func(path string) error { return os.Symlink("/dev/zero", path) }},
}

// Files are all kinds.
var Files = append([]FileKind{
	{"file removed", func(string) error { return nil }},
	{"file emptied", func(path string) error { return os.WriteFile(path, nil, 0o666) }},
}, Special...)
