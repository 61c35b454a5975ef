package paraver

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"

	"github.com/klauspost/compress/gzip"

	"tracekit/readers/internal/wire"
	"tracekit/trace"
)

const (
	blockBytes = 256 << 10 // of text at a time, so that it stays in a processor's cache
	maxLine    = 16 << 20  // a longer line is passed over
)

// uncompressed returns the text of a file that may be compressed, seen from its first
// bytes.
func uncompressed(r io.Reader) (io.Reader, error) {
	b := bufio.NewReaderSize(r, 64<<10)
	if head, _ := b.Peek(2); !bytes.Equal(head, []byte("\x1f\x8b")) {
		return b, nil
	}
	z, err := gzip.NewReader(b)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", trace.ErrNotATrace, err)
	}
	return wire.Decompressed(z), nil
}

// A cutter cuts a text into blocks of whole lines. How large they are changes nothing in
// what is read.
//
//	rest is the beginning of the next line, which is at offset in the text
//	skipped is how much of that line was passed over, because it is too long
type cutter struct {
	r       io.Reader
	size    int // of a block, unless a line is longer
	rest    []byte
	offset  int64
	skipped int64
	eof     bool
	err     error // why the text ended, if not at the end of the file
}

// next reads the next block into b, which is empty; more is false at the end of the text,
// when rest is what follows the last line end. The function alone is called before memory is
// taken for a line that is longer than a block.
func (c *cutter) next(ctx context.Context, b *block, alone func()) (more bool) {
	if cap(b.buf) != c.size {
		b.buf = make([]byte, 0, c.size)
	}
	buf := b.buf[:0]
	if len(c.rest) >= cap(buf) {
		alone()
		buf = make([]byte, 0, min(2*len(c.rest), maxLine))
	}
	buf = append(buf, c.rest...)
	for {
		if len(buf) == cap(buf) {
			if cap(buf) < maxLine {
				alone()
				buf = append(make([]byte, 0, min(2*cap(buf), maxLine)), buf...)
			} else {
				b.tooLong = c.offset
				c.skipped += int64(len(buf))
				buf = buf[:0]
			}
		}
		if buf = c.read(ctx, buf); hasLine(buf) {
			break
		}
		if c.eof {
			c.rest = append(c.rest[:0], buf...)
			return false
		}
	}
	begin, end := 0, bytes.LastIndexByte(buf, '\n')+1
	if c.skipped > 0 {
		begin = bytes.IndexByte(buf, '\n') + 1
	}
	at := c.offset + c.skipped
	b.buf, b.data, b.offset = buf, buf[begin:end], at+int64(begin)
	c.rest, c.offset, c.skipped = append(c.rest[:0], buf[end:]...), at+int64(end), 0
	return true
}

// read fills a buffer up to its capacity.
func (c *cutter) read(ctx context.Context, buf []byte) []byte {
	if err := ctx.Err(); err != nil {
		c.eof, c.err = true, err
		return buf
	}
	n, err := io.ReadFull(c.r, buf[len(buf):cap(buf)])
	if err != nil {
		c.eof = true
		if err != io.EOF && err != io.ErrUnexpectedEOF {
			c.err = err
		}
	}
	return buf[:len(buf)+n]
}

func hasLine(data []byte) bool { return bytes.IndexByte(data, '\n') >= 0 }
