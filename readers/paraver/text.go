package paraver

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/gzip"

	"tracekit/trace"
)

const (
	blockBytes = 1 << 20  // of text at a time
	maxLine    = 16 << 20 // a longer line is passed over
)

// errDamaged is the end of a compressed text that cannot be decoded further.
var errDamaged = errors.New("the compressed data are cut or damaged")

// uncompressed returns the text of a file that may be compressed, seen from its first
// bytes. It must be closed before the file.
func uncompressed(r io.Reader) (io.ReadCloser, error) {
	b := bufio.NewReaderSize(r, 64<<10)
	if head, _ := b.Peek(2); !bytes.Equal(head, []byte("\x1f\x8b")) {
		return io.NopCloser(b), nil
	}
	z, err := gzip.NewReader(b)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", trace.ErrNotATrace, err)
	}
	return newAhead(&damaged{z}), nil
}

// damaged gives the errors of a decompressor one name.
type damaged struct{ r io.Reader }

func (d *damaged) Read(p []byte) (int, error) {
	n, err := d.r.Read(p)
	if err != nil && err != io.EOF {
		err = fmt.Errorf("%w: %w", errDamaged, err)
	}
	return n, err
}

// A block is a piece of text.
//
//	data holds whole lines, each with its line end
//	offset and line say where it begins in the uncompressed text
type block struct {
	data   []byte
	offset int64
	line   int // from 1
}

// A blocker cuts a text into blocks.
type blocker struct {
	r      io.Reader
	buf    []byte
	begin  int // of what is not delivered yet
	end    int
	offset int64 // of buf[0]
	line   int
	over   func(offset int64, line int) // told of lines that are too long
	long   bool                         // within such a line
	eof    bool
	err    error // why the text ended, if not at the end of the file
}

func newBlocker(r io.Reader, size int) *blocker {
	return &blocker{r: r, buf: make([]byte, size), line: 1, over: func(int64, int) {}}
}

// next returns the next block; ok is false at the end, when rest is what follows the last
// line end.
func (b *blocker) next(ctx context.Context) (out block, ok bool, err error) {
	for {
		if i := bytes.LastIndexByte(b.buf[b.begin:b.end], '\n'); i >= 0 {
			out = block{data: b.buf[b.begin : b.begin+i+1], offset: b.offset + int64(b.begin), line: b.line}
			b.begin += i + 1
			if b.long { // the first line of the block is the end of the long one
				b.long = false
				out.data = out.data[bytes.IndexByte(out.data, '\n')+1:]
				out.line++
				b.line++
			}
			b.line += bytes.Count(out.data, []byte{'\n'})
			out.offset = b.offset + int64(b.begin) - int64(len(out.data))
			if len(out.data) > 0 {
				return out, true, nil
			}
			continue
		}
		if b.eof {
			return block{}, false, nil
		}
		if err := ctx.Err(); err != nil {
			return block{}, false, err
		}
		b.fill()
	}
}

// rest returns what is behind the last line end.
func (b *blocker) rest() block {
	return block{data: b.buf[b.begin:b.end], offset: b.offset + int64(b.begin), line: b.line}
}

// fill reads more behind the incomplete line that is left.
func (b *blocker) fill() {
	n := copy(b.buf, b.buf[b.begin:b.end])
	b.offset += int64(b.begin)
	b.begin, b.end = 0, n
	if n == len(b.buf) {
		if n >= maxLine {
			if !b.long {
				b.over(b.offset, b.line)
			}
			b.long = true
			b.offset += int64(n)
			b.end, n = 0, 0
		} else {
			b.buf = append(b.buf, make([]byte, len(b.buf))...)
		}
	}
	k, err := io.ReadFull(b.r, b.buf[n:])
	b.end += k
	if err != nil {
		b.eof = true
		if err != io.EOF && err != io.ErrUnexpectedEOF {
			b.err = err
		}
	}
}

func hasLine(data []byte) bool { return indexLine(data) >= 0 }

func indexLine(data []byte) int { return bytes.IndexByte(data, '\n') }
