package jsontrace

import (
	"fmt"
	"io"

	"tracekit/readers/internal/wire"
	"tracekit/trace"
)

const (
	windowBytes = 512 << 10 // of a window at first
	objectLimit = 16 << 20  // of one event or of one kept value; the window grows to this
	headerLimit = 128 << 20 // of the definitions in tracekit's own dialect
)

// An input is a window on the text of a file.
//
//	buf[pos:] is what was read and not consumed
//	offset is the position in the uncompressed text of buf[0]
//	eof: nothing comes after buf
//	limit is the size to which the window may grow
type input struct {
	r      io.Reader
	buf    []byte
	pos    int
	offset int64
	limit  int
	eof    bool
	err    error // why the text ended, if not at the end of the file
}

func newInput(r io.Reader, window int) *input {
	return &input{r: r, buf: make([]byte, 0, window), limit: objectLimit}
}

// at returns the position of the next byte in the text.
func (in *input) at() int64 { return in.offset + int64(in.pos) }

// rest returns what is in the window and not consumed.
func (in *input) rest() []byte { return in.buf[in.pos:] }

// more reads further text behind what is not consumed, which moves. It returns false if
// there is none, or if the window has grown to its limit.
func (in *input) more() bool {
	if in.eof {
		return false
	}
	if in.pos == 0 && len(in.buf) == cap(in.buf) {
		if cap(in.buf) >= in.limit {
			return false
		}
		in.buf = append(make([]byte, 0, 2*cap(in.buf)), in.buf...)
	}
	in.offset += int64(in.pos)
	var n int
	in.buf, n, in.eof, in.err = wire.Refill(in.r, in.buf, in.pos)
	in.pos = 0
	return n > 0
}

// peek returns the next byte that is neither white space nor in the set skip; ok is false
// at the end of the text.
func (in *input) peek(skip byte) (c byte, ok bool) {
	for {
		for ; in.pos < len(in.buf); in.pos++ {
			if c := in.buf[in.pos]; !isSpace(c) && c != skip {
				return c, true
			}
		}
		if !in.more() {
			return 0, false
		}
	}
}

func isSpace(c byte) bool { return c == ' ' || c == '\n' || c == '\r' || c == '\t' }

// uncompressed returns the text of a file that may be compressed, see wire.Uncompressed.
func uncompressed(r io.Reader) (io.Reader, error) {
	plain, err := wire.Uncompressed(r)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", trace.ErrNotATrace, err)
	}
	return plain, nil
}
