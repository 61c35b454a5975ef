package otf2

import (
	"encoding/binary"
	"errors"
	"fmt"

	"tracekit/readers/internal/wire"
	"tracekit/trace"
)

// Record ids that belong to the framing.
const (
	idEndOfChunk  = 0x00 // also the padding up to the chunk's end
	idEndOfBuffer = 0x01
	idEndOfFile   = 0x02
	idHeader      = 0x03 // at the start of a chunk only
	idTimestamp   = 0x05 // in files with times
	idAttributes  = 0x06 // in event files
)

const (
	markLittle = 0x42
	markBig    = 0x23
	headerSize = 18 // id, byte order, number of the first and the last event in the chunk
)

var (
	errNoHeader   = errors.New("a chunk does not begin with a header")
	errByteOrder  = errors.New("the byte order mark is neither 0x42 nor 0x23")
	errHeaderHere = errors.New("a chunk header inside a chunk")
)

// A damage says why and where a file cannot be read on.
type damage struct {
	code   trace.Code
	offset int64
	record string
	err    error
}

func (d *damage) text() string {
	if d.record == "" {
		return d.err.Error()
	}
	return d.record + ": " + d.err.Error()
}

// chunks walks through the chunks of a file. Chunk k begins at k times the chunk size, and
// all but the last are padded to that size.
type chunks struct {
	file *wire.File
	size int64
	next int64 // offset of the next chunk
}

// A chunk is one chunk's bytes with its header.
//
//	data[0] lies at offset base of the file
type chunk struct {
	data      []byte
	base      int64
	bigEndian bool
	full      bool // the file holds all of it
}

// read returns the next chunk. At the end of the file data is nil; a damaged header is
// described.
func (c *chunks) read() (chunk, *damage) {
	base := c.next
	data, err := c.file.Span(base, c.size)
	switch {
	case err != nil:
		return chunk{}, &damage{trace.CodeTruncated, base, "", err}
	case len(data) == 0:
		return chunk{}, nil
	case data[0] != idHeader:
		return chunk{}, &damage{trace.CodeCorrupt, base, "", errNoHeader}
	case len(data) > 1 && data[1] != markLittle && data[1] != markBig:
		return chunk{}, &damage{trace.CodeCorrupt, base, "", errByteOrder}
	case len(data) < headerSize:
		return chunk{}, &damage{trace.CodeTruncated, base, "", wire.ErrShort}
	}
	c.next += c.size
	return chunk{data: data, base: base, bigEndian: data[1] == markBig, full: int64(len(data)) == c.size}, nil
}

// trailing returns the offset of the first byte behind the end-of-file mark at position
// pos of a chunk that does not belong to the format; -1 if there is none.
func (c *chunk) trailing(pos int) int64 {
	pos++
	if pos < len(c.data) && c.data[pos] == idEndOfBuffer {
		pos++
	}
	for ; pos < len(c.data); pos++ {
		if c.data[pos] != 0 {
			return c.base + int64(pos)
		}
	}
	return -1
}

// rawRecords iterates over the records of a chunked file without decoding them.
type rawRecords struct {
	chunks   chunks
	timed    bool // timestamp records occur
	current  chunk
	cursor   wire.Cursor
	damage   *damage // why the iteration ended early
	ended    bool    // the end-of-file mark was read
	trailing int64   // first byte behind it; -1: none
}

func newRawRecords(file *wire.File, chunkSize int64, timed bool) *rawRecords {
	return &rawRecords{chunks: chunks{file: file, size: chunkSize}, timed: timed, trailing: -1}
}

// A rawRecord is one record: its number, its payload, and where it begins.
type rawRecord struct {
	id        uint8
	bigEndian bool
	payload   []byte
	offset    int64
}

// next returns the next record; ok is false at the end and at damage.
func (f *rawRecords) next() (rec rawRecord, ok bool) {
	for f.damage == nil && !f.ended {
		c := &f.cursor
		if c.Pos == len(c.Data) {
			if f.current.data != nil && !f.current.full || !f.nextChunk() {
				return rawRecord{}, false
			}
			continue
		}
		offset := f.current.base + int64(c.Pos)
		id := c.Uint8()
		switch {
		case id == idEndOfChunk:
			c.Pos = len(c.Data)
		case id == idEndOfFile || id == idEndOfBuffer:
			f.ended = true
			f.trailing = f.current.trailing(c.Pos - 1)
		case id == idHeader:
			f.damage = &damage{trace.CodeCorrupt, offset, "", errHeaderHere}
		case id == idTimestamp && f.timed:
			c.Bytes(8)
			f.checkShort(offset)
		default:
			rec = rawRecord{id: id, bigEndian: c.BigEndian, payload: prefixed(c), offset: offset}
			return rec, f.checkShort(offset)
		}
	}
	return rawRecord{}, false
}

func (f *rawRecords) nextChunk() bool {
	f.current, f.damage = f.chunks.read()
	if f.current.data == nil {
		return false
	}
	f.cursor = wire.Cursor{Data: f.current.data, Pos: headerSize, BigEndian: f.current.bigEndian}
	return true
}

// checkShort turns a record that reaches beyond its chunk into damage: of the file's end
// if the chunk is cut, else of the record.
func (f *rawRecords) checkShort(offset int64) bool {
	if f.cursor.Err == nil {
		return true
	}
	code := trace.CodeTruncated
	if f.current.full {
		code = trace.CodeCorrupt
	}
	f.damage = &damage{code, offset, "", f.cursor.Err}
	return false
}

// prefixed reads a length prefix and as many bytes: one byte below 0xFF, or 0xFF and
// eight bytes.
func prefixed(c *wire.Cursor) []byte {
	n := uint64(c.Uint8())
	if n == 0xFF {
		n = c.Uint64()
	}
	return c.Bytes(c.Count(n, 1))
}

// appendHeader appends a chunk header in little-endian order.
func appendHeader(b []byte, first, last uint64) []byte {
	b = append(b, idHeader, markLittle)
	b = binary.LittleEndian.AppendUint64(b, first)
	return binary.LittleEndian.AppendUint64(b, last)
}

// checkChunkSize refuses chunk sizes that cannot hold a header. Sizes beyond the format's
// range of 256 KiB to 16 MiB are read all the same: no memory is taken for them.
func checkChunkSize(size uint64) error {
	if size < 2*headerSize || size > 1<<40 {
		return fmt.Errorf("impossible chunk size %d", size)
	}
	return nil
}
