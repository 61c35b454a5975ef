package otf2

import (
	"encoding/binary"
	"errors"
	"io"
	"os"

	"tracekit/readers/internal/output"
	"tracekit/spill"
)

// A chunkWriter writes one chunked file. It keeps at most a piece of the current chunk in
// memory and opens the file only while it flushes, so that any number of files can be
// written at a time.
//
//	held takes the file, unless it is nil
//	buf holds the bytes of the file from offset off on
//	base is the offset of the current chunk's header
type chunkWriter struct {
	path    string
	held    *heldFile
	size    int64
	counted bool // chunk headers number the events
	buf     []byte
	off     int64
	base    int64
	first   uint64 // number of the chunk's first event, from 1
	events  uint64
	started bool
	patches []headerPatch
	created bool
	ended   bool
}

// A headerPatch is the number of a chunk's last event, to be set where the header was
// flushed before the chunk was complete.
type headerPatch struct {
	offset int64
	last   uint64
}

// endSize is kept free in every chunk: for the end marks of a chunk or of the file.
const endSize = 2

var errTooLarge = errors.New("a record is larger than a chunk")

// reserve makes room for n bytes in the current chunk, or begins a new one.
func (w *chunkWriter) reserve(n int) (fresh bool, err error) {
	used := w.off + int64(len(w.buf)) - w.base
	if w.started && used+int64(n)+endSize <= w.size {
		return false, nil
	}
	if int64(n)+headerSize+endSize > w.size {
		return false, errTooLarge
	}
	if w.started {
		w.buf = append(w.buf, make([]byte, w.size-used)...)
	}
	w.begin()
	return true, nil
}

// begin begins a chunk at the end of what was written.
func (w *chunkWriter) begin() {
	w.endChunk()
	w.started = true
	w.base = w.off + int64(len(w.buf))
	w.first = w.events + 1
	first, last := uint64(1), uint64(0)
	if w.counted {
		first, last = w.first, w.events
	}
	w.buf = appendHeader(w.buf, first, last)
}

// endChunk sets the last event in the header of the current chunk.
func (w *chunkWriter) endChunk() {
	if !w.started || !w.counted {
		return
	}
	at := w.base + 10 - w.off
	if at >= 0 {
		binary.LittleEndian.PutUint64(w.buf[at:], w.events)
		return
	}
	w.patches = append(w.patches, headerPatch{w.base + 10, w.events})
}

// close ends the file, unless it has ended.
func (w *chunkWriter) close() error {
	if w.ended {
		return nil
	}
	w.ended = true
	if !w.started {
		w.begin()
	}
	w.endChunk()
	w.buf = append(w.buf, idEndOfFile, idEndOfBuffer)
	return w.flush()
}

// flush writes what is in memory and gives the memory back.
func (w *chunkWriter) flush() error {
	f, err := w.open()
	if err != nil {
		return err
	}
	w.created = true
	_, err = output.Pieces{Writer: io.NewOffsetWriter(f, w.off)}.Write(w.buf)
	for _, p := range w.patches {
		_, perr := f.WriteAt(binary.LittleEndian.AppendUint64(nil, p.last), p.offset)
		err = errors.Join(err, perr)
	}
	w.off += int64(len(w.buf))
	w.buf, w.patches = nil, nil
	return errors.Join(err, f.Close())
}

// open opens the file for writing, which is made at first.
func (w *chunkWriter) open() (interface {
	io.WriterAt
	io.Closer
}, error) {
	if w.held != nil {
		return w.held, nil
	}
	mode := os.O_WRONLY
	if !w.created {
		mode |= os.O_CREATE | os.O_EXCL
	}
	return os.OpenFile(w.path, mode, 0o666)
}

// A heldFile is a file in a table of a store.
type heldFile struct{ bytes *spill.Table[byte] }

// WriteAt implements io.WriterAt; nothing is left out before what is written.
func (f *heldFile) WriteAt(b []byte, at int64) (int, error) {
	old := min(len(b), f.bytes.Len()-int(at))
	for i, x := range b[:old] {
		f.bytes.Set(int(at)+i, x)
	}
	f.bytes.AppendRows(b[old:])
	return len(b), nil
}

// reader reads the file from its begin.
func (f *heldFile) reader() io.Reader { return io.NewSectionReader(f, 0, int64(f.bytes.Len())) }

// ReadAt implements io.ReaderAt.
func (f *heldFile) ReadAt(b []byte, at int64) (int, error) {
	n := f.bytes.Copy(b, int(at))
	if n < len(b) {
		return n, io.EOF
	}
	return n, nil
}

func (f *heldFile) Close() error { return nil }
