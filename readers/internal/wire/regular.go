package wire

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// ErrNotRegular says that a path names a pipe, a device, a socket or a directory: opening it
// may wait for ever or act on the machine, and it cannot be read twice.
var ErrNotRegular = errors.New("not a regular file")

// OpenRegular opens a file for reading, with its size. What is no regular file is not opened;
// the error wraps ErrNotRegular then, and names what it is.
func OpenRegular(name string) (*os.File, int64, error) {
	info, err := os.Stat(name) // the file's, not the link's
	if err != nil {
		return nil, 0, err
	}
	if what := irregular(info.Mode()); what != "" {
		return nil, 0, fmt.Errorf("%s is %s, %w", name, what, ErrNotRegular)
	}
	f, err := os.Open(name)
	return f, info.Size(), err
}

// irregular names what is no regular file, "" for one.
func irregular(mode fs.FileMode) string {
	switch {
	case mode.IsRegular():
		return ""
	case mode.IsDir():
		return "a directory"
	case mode&fs.ModeNamedPipe != 0:
		return "a named pipe"
	case mode&fs.ModeSocket != 0:
		return "a socket"
	case mode&fs.ModeDevice != 0:
		return "a device"
	}
	return "something special"
}

// Watch notes the size of an open file and when it was written last. The function that it
// returns reports whether they have changed since.
func Watch(f *os.File) (changed func() bool) {
	before, err := f.Stat()
	return func() bool {
		after, err2 := f.Stat()
		return err != nil || err2 != nil || before.Size() != after.Size() || !before.ModTime().Equal(after.ModTime())
	}
}
