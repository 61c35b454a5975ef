// Package wire reads hostile input within bounds: files piece by piece, and records by a
// cursor that keeps its first error. No size that a file states is believed; memory is
// bounded by the pieces that are asked for and by the size of the file.
package wire

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"runtime/debug"
)

// ErrFileChanged says that a file became shorter while it was read.
var ErrFileChanged = errors.New("the file changed while it was read")

// A File is read in spans, from its beginning to its end. A small one is read at once. Where the system can,
// another one is mapped into memory and the spans before the current one are given back; else spans
// are read into a buffer.
type File struct {
	name   string
	size   int64
	whole  []byte // of a small file; nil: not one
	mapped []byte // nil: read from file
	freed  int64  // mapped[:freed] was given back to the system
	file   *os.File
	buf    []byte
}

// Open opens a file for reading.
func Open(name string) (*File, error) { return open(name, mapFile) }

func open(name string, mapper func(*os.File, int64) []byte) (*File, error) {
	f, size, err := OpenRegular(name)
	if err != nil {
		return nil, err
	}
	w := &File{name: name, size: size, file: f}
	if 0 < size && size <= smallBytes {
		w.whole, err = w.Span(0, size)
		w.file, w.buf = nil, nil
		return w, errors.Join(err, f.Close())
	}
	if w.mapped = mapper(f, w.size); w.mapped != nil {
		w.file = nil // the mapping stays: thousands of files may be open
		if err := f.Close(); err != nil {
			return nil, err
		}
	}
	return w, nil
}

// A file of so many bytes is read at once: to map it would take longer.
const smallBytes = 16 << 10

// mostFetched is how many bytes of a mapped span are asked for at once. Else every few of its pages take a fault.
const mostFetched = 1 << 20

// Name returns the name that the file was opened by.
func (f *File) Name() string { return f.name }

// Size returns the file's size when it was opened, in bytes.
func (f *File) Size() int64 { return f.size }

// Span returns the n bytes from offset off on, fewer at the end of the file. They are
// valid until the next call, and must not be written.
func (f *File) Span(off, n int64) ([]byte, error) {
	if off < 0 || n < 0 || off >= f.size {
		return nil, nil
	}
	n = min(n, f.size-off)
	switch {
	case f.whole != nil:
		return f.whole[off : off+n : off+n], nil
	case f.mapped != nil:
		f.release(off)
		fetch(f.mapped[off:][:min(n, mostFetched)])
		return f.mapped[off : off+n : off+n], nil
	}
	if int64(cap(f.buf)) < n {
		f.buf = make([]byte, n)
	}
	got, err := f.file.ReadAt(f.buf[:n], off)
	if err == io.EOF {
		err = nil
		if int64(got) < n {
			err = ErrFileChanged
		}
	}
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", f.name, err)
	}
	return f.buf[:n], nil
}

// release gives back the mapped memory before off.
func (f *File) release(off int64) {
	const page = 64 << 10 // a multiple of every page size in use
	if off -= off % page; off > f.freed {
		discard(f.mapped[f.freed:off])
		f.freed = off
	}
}

// Close gives the file back. Spans must not be used afterwards.
func (f *File) Close() error {
	if f.mapped != nil {
		m := f.mapped
		f.mapped, f.size = nil, 0
		return unmapFile(m)
	}
	f.whole, f.size = nil, 0
	if f.file == nil {
		return nil
	}
	err := f.file.Close()
	f.file = nil
	return err
}

// Guard calls decode, which reads spans of the file. A mapped file that another program
// cuts short meanwhile makes it return ErrFileChanged instead of ending the program.
func (f *File) Guard(decode func()) (err error) {
	if f.mapped == nil {
		decode()
		return nil
	}
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		switch r := recover().(type) {
		case nil:
		case interface{ Addr() uintptr }: // a memory fault has an address, our own bugs have none
			err = fmt.Errorf("reading %s: %w", f.name, Recovered(r))
		default:
			panic(r)
		}
	}()
	decode()
	return nil
}

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
