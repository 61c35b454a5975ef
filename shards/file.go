package shards

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"tracekit/codec"
	"tracekit/tempfile"
	"tracekit/trace"
)

// WriteFile makes a file in a directory that exists, complete or not at all.
func WriteFile(ctx context.Context, path string, write func(io.Writer) error) error {
	f, err := tempfile.Create(path)
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // fails once the file has its name
	err = write(f)
	if err = errors.Join(err, f.Close(), ctx.Err()); err != nil {
		return fmt.Errorf("writing %s: %w", path, err)
	}
	return os.Rename(f.Name(), path)
}

// ReadFile reads a file that begins with a line: all of it, or no more than read asks for.
func ReadFile(path, line string, all bool, read func(*codec.Coder)) error {
	f, err := OpenFile(path)
	if err != nil {
		return err
	}
	defer f.Close()
	return ReadStream(f, path, line, all, read)
}

// OpenFile opens what must be a file.
func OpenFile(path string) (*os.File, error) {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return nil, Refused(path, errors.New("it is not a file"))
	}
	return os.Open(path)
}

// ReadStream reads a stream of the file at a path as ReadFile does.
func ReadStream(r io.Reader, path, line string, all bool, read func(*codec.Coder)) error {
	c := codec.NewReader(r, line)
	if read(c); all {
		c.Close()
	}
	if err := c.Err(); errors.Is(err, codec.ErrDamaged) {
		return Refused(path, err)
	} else if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

// Refused says that a file, or a directory, is not what it should be.
func Refused(path string, err error) error {
	return &trace.SyntaxError{File: path, Offset: -1, Err: err}
}
