// Package tempfile makes files and directories under temporary names, beside those that they get once they are complete. What it makes has
// the mode that the user's umask leaves of 0666 and 0777; what os.CreateTemp and os.MkdirTemp make nobody else can read.
package tempfile

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
)

// tries is how many names are tried.
const tries = 1000

// Create makes a file in the directory of a path, whose name is the path's with a dot before and a number behind it. Errors are those of
// the system.
func Create(path string) (f *os.File, err error) {
	err = try(path, func(name string) (err error) {
		f, err = os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o666)
		return err
	})
	return f, err
}

// Mkdir makes a directory in that of a path, named as Create names files. Errors are those of the system.
func Mkdir(path string) (dir string, err error) {
	err = try(path, func(name string) error {
		dir = name
		return os.Mkdir(name, 0o777)
	})
	return dir, err
}

func try(path string, create func(name string) error) (err error) {
	for range tries {
		name := fmt.Sprintf(".%s-%d", filepath.Base(path), rand.Uint32())
		if err = create(filepath.Join(filepath.Dir(path), name)); !errors.Is(err, fs.ErrExist) {
			break
		}
	}
	return err
}

// A Cancelable writer fails with the context's error once its context has ended.
type Cancelable struct {
	context.Context
	io.Writer
}

// Write implements io.Writer.
func (c Cancelable) Write(p []byte) (int, error) {
	if err := c.Err(); err != nil {
		return 0, err
	}
	return c.Writer.Write(p)
}
