package arrowdir

import (
	"bufio"
	"errors"
	"hash"
	"hash/crc32"
	"io"
	"os"

	"tracekit/readers/internal/output"
	"tracekit/readers/internal/wire"
	"tracekit/trace"
)

// The libraries that decode Arrow and Parquet believe what sizes a file names. Therefore sizes are
// compared with the file before, and no file is read whose checksum is not that of the manifest:
// but for a Parquet file that says that another program has written it, as of tables that were read
// and written again. What it must agree with is its number of rows, whose they are and in which order.

func newChecksum() hash.Hash32 { return crc32.New(crc32.MakeTable(crc32.Castagnoli)) }

// openRegular opens a file for reading, unless it is something that may never end or begin.
func openRegular(name string) (*os.File, error) {
	f, _, err := wire.OpenRegular(name)
	if errors.Is(err, wire.ErrNotRegular) {
		return nil, &trace.SyntaxError{File: name, Offset: -1, Err: errors.New("it is not a regular file")}
	}
	return f, err
}

// openSummed opens a file and returns its checksum.
func openSummed(name string) (_ *os.File, size int64, sum uint32, err error) {
	f, err := openRegular(name)
	if err != nil {
		return nil, 0, 0, err
	}
	h := newChecksum()
	if size, err = io.Copy(h, f); err != nil {
		return nil, 0, 0, errors.Join(err, f.Close())
	}
	return f, size, h.Sum32(), nil
}

// An outputFile is written once from begin to end, and knows its checksum.
type outputFile struct {
	file *os.File
	buf  *bufio.Writer // of what goes to the file and into sum
	sum  hash.Hash32
	pos  int64
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
	return n, err
}

// Seek tells the position, for which alone the library of Arrow files asks.
func (f *outputFile) Seek(int64, int) (int64, error) { return f.pos, nil }

// Close writes what is left. A second time, it has no effect.
func (f *outputFile) Close() error {
	if f.file == nil {
		return nil
	}
	err := errors.Join(f.buf.Flush(), f.file.Close())
	f.file = nil
	return err
}
