package output

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"io"

	"github.com/klauspost/compress/flate"
)

// blockBytes is how much text is compressed at a time.
const blockBytes = 1 << 20

// dictBytes is how far the format's references reach.
const dictBytes = 32 << 10

// A gzipWriter compresses a text into one gzip stream (RFC 1952), blocks of it at the same
// time: each begins where the one before ended with an empty block of its own, as zlib's
// Z_SYNC_FLUSH has it, and knows the end of the text before.
type gzipWriter struct {
	out  io.Writer
	line *Line[*gzipBlock]
	at   *gzipBlock // being filled
	dict []byte     // of the next block
	sum  uint32
	size uint32
}

type gzipBlock struct {
	text, dict []byte
	packed     bytes.Buffer
	encoder    *flate.Writer
}

func newGzip(out io.Writer, workers int) (*gzipWriter, error) {
	w := &gzipWriter{out: out}
	w.line = NewLine(workers, 1, func() *gzipBlock { return &gzipBlock{} }, (*gzipBlock).pack,
		func(b *gzipBlock) error { _, err := out.Write(b.packed.Bytes()); return err })
	_, err := out.Write([]byte{0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 0xFF}) // deflate, no name, no time, any system
	return w, err
}

func (w *gzipWriter) Write(p []byte) (int, error) {
	w.sum = crc32.Update(w.sum, crc32.IEEETable, p)
	w.size += uint32(len(p))
	for rest := p; len(rest) > 0; {
		if w.at == nil {
			w.at = w.line.Take()
			w.at.text, w.at.dict = w.at.text[:0], append(w.at.dict[:0], w.dict...)
		}
		n := min(len(rest), blockBytes-len(w.at.text))
		w.at.text, rest = append(w.at.text, rest[:n]...), rest[n:]
		if len(w.at.text) == blockBytes {
			if err := w.put(); err != nil {
				return 0, err
			}
		}
	}
	return len(p), nil
}

func (w *gzipWriter) put() error {
	w.dict = append(w.dict[:0], w.at.text[max(0, len(w.at.text)-dictBytes):]...)
	w.at = nil
	return w.line.Put(0)
}

// pack compresses a block.
func (b *gzipBlock) pack() {
	b.packed.Reset()
	if b.encoder == nil {
		b.encoder, _ = flate.NewWriter(nil, flate.DefaultCompression) // that level exists
	}
	b.encoder.ResetDict(&b.packed, b.dict)
	b.encoder.Write(b.text) // into memory
	b.encoder.Flush()
}

// Close ends the stream.
func (w *gzipWriter) Close() error {
	if w.at != nil {
		w.put()
	}
	if err := w.line.Close(); err != nil {
		return err
	}
	end := []byte{1, 0, 0, 0xFF, 0xFF} // a last block without text
	end = binary.LittleEndian.AppendUint32(end, w.sum)
	_, err := w.out.Write(binary.LittleEndian.AppendUint32(end, w.size))
	return err
}
