package output

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"tracekit/tempfile"
)

// A File is written under a hidden name beside its place until it is complete. If its name
// ends in .gz it is compressed.
type File struct {
	path string
	file *os.File
	buf  *bufio.Writer
	zip  *gzipWriter // nil: not compressed
}

// Pieces is a writer that is given so much at a time as the system takes quickest: small
// pieces are many calls, for large ones it looks for memory that lies together.
type Pieces struct{ io.Writer }

// pieceBytes is the size of such a piece.
const pieceBytes = 64 << 10

func (w Pieces) Write(p []byte) (n int, err error) {
	for n < len(p) && err == nil {
		var k int
		k, err = w.Writer.Write(p[n:min(len(p), n+pieceBytes)])
		n += k
	}
	return n, err
}

// Buffered returns a buffer in front of a file, of the size of a piece.
func Buffered(file io.Writer) *bufio.Writer { return bufio.NewWriterSize(Pieces{file}, pieceBytes) }

// Replaceable states that a file may be made: nothing has its name or, with force, a file or a
// symbolic link, whose place it takes. The error wraps fs.ErrExist.
func Replaceable(path string, force bool) error {
	info, err := os.Lstat(path)
	switch {
	case err != nil:
		return nil // if it cannot be written, that shows later
	case !force:
		return &fs.PathError{Op: "create", Path: path, Err: fs.ErrExist}
	case info.Mode().IsRegular() || info.Mode()&fs.ModeSymlink != 0:
		return nil
	}
	return fmt.Errorf("%s is not a file; a file does not replace it: %w", path, fs.ErrExist)
}

// Create begins a file; so many workers compress it. If it is not to be published, call
// Discard.
func Create(path string, workers int) (*File, error) {
	f, err := tempfile.Create(path)
	if err != nil {
		return nil, err
	}
	out := &File{path: path, file: f, buf: Buffered(f)}
	if strings.HasSuffix(path, ".gz") {
		if out.zip, err = newGzip(out.buf, workers); err != nil {
			return nil, errors.Join(err, out.Discard())
		}
	}
	return out, nil
}

// Write implements io.Writer.
func (f *File) Write(p []byte) (int, error) {
	if f.zip != nil {
		return f.zip.Write(p)
	}
	return f.buf.Write(p)
}

// Complete writes all that is left.
func (f *File) Complete() error {
	var err error
	if f.zip != nil {
		err, f.zip = f.zip.Close(), nil
	}
	return errors.Join(err, f.buf.Flush(), f.file.Close())
}

// Publish gives a complete file its name.
func (f *File) Publish() error { return os.Rename(f.file.Name(), f.path) }

// Discard removes the file unless it is published.
func (f *File) Discard() error {
	if f.zip != nil {
		f.zip.Close()
	}
	f.file.Close()
	if err := os.Remove(f.file.Name()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
