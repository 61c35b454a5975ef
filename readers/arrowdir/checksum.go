package arrowdir

import (
	"bufio"
	"errors"
	"fmt"
	"hash"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"sync"

	"tracekit/readers/internal/output"
)

// The libraries that decode Arrow and Parquet believe what sizes a file names. Therefore no
// file is decoded before its checksum, which the manifest holds, was found right.

func newChecksum() hash.Hash32 { return crc32.New(crc32.MakeTable(crc32.Castagnoli)) }

// checksum returns the CRC-32C of a file.
func checksum(name string) (uint32, error) {
	f, err := os.Open(name)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	h := newChecksum()
	_, err = io.Copy(h, f)
	return h.Sum32(), err
}

// An outputFile is written once from begin to end. It knows its checksum, and remembers that
// it could not be written: the Parquet library panics in some places where that happens.
type outputFile struct {
	file *os.File
	buf  *bufio.Writer // of what goes to the file and into sum
	sum  hash.Hash32
	pos  int64
	err  error
}

func createOutput(name string) (*outputFile, error) {
	f, err := os.Create(name)
	if err != nil {
		return nil, err
	}
	sum := newChecksum()
	return &outputFile{file: f, buf: output.Buffered(io.MultiWriter(f, sum)), sum: sum}, nil
}

func (f *outputFile) Write(p []byte) (int, error) {
	n, err := f.buf.Write(p)
	f.pos += int64(n)
	return n, f.failed(err)
}

// Seek tells the position, for which alone the library of Arrow files asks.
func (f *outputFile) Seek(int64, int) (int64, error) { return f.pos, nil }

// Close writes what is left. A second time, it has no effect.
func (f *outputFile) Close() error {
	if f.file == nil {
		return nil
	}
	err := errors.Join(f.failed(f.buf.Flush()), f.file.Close())
	f.file = nil
	return err
}

// failed keeps the first error.
func (f *outputFile) failed(err error) error {
	if err != nil && f.err == nil {
		f.err = err
	}
	return err
}

// rescue, deferred, makes an error of a panic that a failed write has caused.
func (f *outputFile) rescue(err *error) {
	if f.err == nil {
		return
	}
	_ = recover() // f.err says why
	*err = f.err
}

// verifier checks each file once.
type verifier struct {
	dir  string
	want map[string]uint32

	mu   sync.Mutex
	seen map[string]error
}

func newVerifier(dir string, want map[string]uint32) *verifier {
	return &verifier{dir: dir, want: want, seen: make(map[string]error)}
}

// check returns an error unless the file has the checksum that the manifest names.
func (v *verifier) check(name string) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	if err, ok := v.seen[name]; ok {
		return err
	}
	v.seen[name] = v.compare(name)
	return v.seen[name]
}

func (v *verifier) compare(name string) error {
	relative, err := filepath.Rel(v.dir, name)
	if err != nil {
		return err
	}
	want, ok := v.want[filepath.ToSlash(relative)]
	if !ok {
		return fmt.Errorf("%s has no checksum in %s", relative, manifestName)
	}
	got, err := checksum(name)
	if err == nil && got != want {
		err = fmt.Errorf("%s is damaged: its checksum is %08x, not %08x", relative, got, want)
	}
	return err
}
