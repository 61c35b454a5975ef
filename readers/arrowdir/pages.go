package arrowdir

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"sync"

	"github.com/apache/arrow/go/v15/parquet/compress"
	"github.com/apache/arrow/go/v15/parquet/file"
	"github.com/apache/arrow/go/v15/parquet/metadata"
	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"
)

// Pages are the pieces of a column of a Parquet row group, each compressed behind a header,
// a structure in Thrift's compact protocol. We write and read them ourselves: the library
// makes an encoder for each page that it compresses, with memory for as many goroutines as
// there are processors, and decompresses more than a page announces.

// Kinds of page and encodings of Parquet's format that a writer of ours has used.
const (
	dataPage       = 0
	dictionaryPage = 2
	dataPage2      = 3

	encodingPlain     = 0
	encodingPlainDict = 2 // an old name of encodingDict
	encodingLevels    = 3
	encodingDelta     = 5
	encodingDict      = 8
)

// pagesFrom is the position of the first page: as in a file, behind the magic number. The
// library takes 0 for no page.
const pagesFrom = 4

// A pageWriter writes the pages of one column after another to memory. It is the library's
// interface, but for Reset, which only the library's own writers of row groups call.
type pageWriter struct {
	file.PageWriter
	out    *bytes.Buffer
	chunk  *metadata.ColumnChunkMetaDataBuilder
	info   metadata.ChunkMetaInfo
	stats  metadata.EncodingStats
	packed []byte
}

func newPageWriter(out *bytes.Buffer, chunk *metadata.ColumnChunkMetaDataBuilder) *pageWriter {
	return &pageWriter{out: out, chunk: chunk, info: metadata.ChunkMetaInfo{IndexPageOffset: -1}}
}

var encoders = sync.Pool{New: func() any {
	e, err := zstd.NewWriter(nil, zstd.WithZeroFrames(true), zstd.WithEncoderConcurrency(1))
	if err != nil {
		panic(err) // the options are right
	}
	return e
}}

func (w *pageWriter) HasCompressor() bool { return true }

// Compress compresses a page into memory that is valid until the next one.
func (w *pageWriter) Compress(_ *bytes.Buffer, page []byte) []byte {
	e := encoders.Get().(*zstd.Encoder)
	defer encoders.Put(e)
	w.packed = e.EncodeAll(page, w.packed[:0])
	return w.packed
}

func (w *pageWriter) WriteDataPage(p file.DataPage) (int64, error) {
	if w.info.DataPageOffset == 0 {
		w.info.DataPageOffset = w.position()
	}
	w.info.NumValues += int64(p.NumValues())
	return w.page(dataPage, int64(p.UncompressedSize()), p.Data(),
		0x2C, int64(p.NumValues()), int64(p.Encoding()), encodingLevels, encodingLevels), nil
}

func (w *pageWriter) WriteDictionaryPage(p *file.DictionaryPage) (int64, error) {
	w.info.DictPageOffset = w.position()
	return w.page(dictionaryPage, int64(len(p.Data())), w.Compress(nil, p.Data()), 0x4C, int64(p.NumValues()), encodingPlain), nil
}

func (w *pageWriter) position() int64 { return pagesFrom + int64(w.out.Len()) }

// page writes a page and its header: kind, sizes, and a structure of numbers that begins with
// a byte that says which.
func (w *pageWriter) page(kind, size int64, packed []byte, structure byte, fields ...int64) int64 {
	const number, end = 0x15, 0 // the next field is a number; the structure ends
	var h []byte
	for _, v := range []int64{kind, size, int64(len(packed))} {
		h = binary.AppendVarint(append(h, number), v)
	}
	h = append(h, structure)
	for _, v := range fields {
		h = binary.AppendVarint(append(h, number), v)
	}
	h = append(h, end, end)
	w.out.Write(h)
	w.out.Write(packed)
	w.info.UncompressedSize += int64(len(h)) + size
	w.info.CompressedSize += int64(len(h) + len(packed))
	return int64(len(h) + len(packed))
}

// Close completes what the metadata say of the column.
func (w *pageWriter) Close(hasDict, fallback bool) error {
	return w.chunk.Finish(w.info, hasDict, fallback, w.stats, nil)
}

// pages reads the pages of one column of a row group. None takes more memory than it
// announces, nor all together more than the column does.
type pages struct {
	packed []byte // what is left
	room   int64  // for pages that are decompressed
	values int    // that are left

	// Of a column of lists, the levels of all values so far: whether a value belongs to
	// the list before (1), and whether it is one (2) or stands for an empty list (0).
	lists       bool
	repeat, def []uint32

	codec      compress.Compression
	most, none uint32 // Parquet's levels of definition of a value that is there, and of an empty list

	kind, encoding, n int // of the page, and its number of values
	data              []byte
}

var decoder = sync.OnceValues(func() (*zstd.Decoder, error) { return zstd.NewReader(nil, zstd.WithDecodeAllCapLimit(true)) })

// unpacked returns the content of a page, which has a size or is damaged.
func unpacked(codec compress.Compression, packed []byte, size int64) ([]byte, error) {
	switch codec {
	case compress.Codecs.Uncompressed:
		return packed, nil
	case compress.Codecs.Snappy:
		if n, err := snappy.DecodedLen(packed); err != nil || int64(n) != size {
			return nil, err
		}
		return snappy.Decode(nil, packed)
	}
	d, err := decoder()
	if err != nil {
		return nil, err
	}
	return d.DecodeAll(packed, make([]byte, 0, size))
}

// next goes on to the next page; ok is false at the end.
func (p *pages) next() (ok bool, err error) {
	if p.values == 0 {
		return false, nil
	}
	h := thriftReader{data: p.packed, numbers: make(map[[2]int]int64)}
	if err := h.structure(0, 0); err != nil {
		return false, err
	}
	size, packed := h.numbers[[2]int{2}], h.numbers[[2]int{3}]
	p.packed = h.data
	if packed < 0 || packed > int64(len(p.packed)) || size < 0 || size > p.room {
		return false, fmt.Errorf("a page of %d bytes, %d compressed, where %d and %d are left", size, packed, p.room, len(p.packed))
	}
	p.room -= size
	p.kind = int(h.numbers[[2]int{1}])
	field, values, encoding := 5, 1, 2 // of the header, and in it
	if p.kind == dataPage2 {
		field, encoding = 8, 4
		p.data, err = p.second(h.numbers, p.packed[:packed], size)
	} else {
		p.data, err = unpacked(p.codec, p.packed[:packed], size)
	}
	switch {
	case err != nil:
		return false, fmt.Errorf("a page of %d bytes: %w", size, err)
	case p.kind != dataPage2 && int64(len(p.data)) != size:
		return false, fmt.Errorf("a page holds %d bytes where %d are announced", len(p.data), size)
	case p.kind == dictionaryPage:
		field = 7
	}
	p.packed = p.packed[packed:]
	n := h.numbers[[2]int{field, values}]
	p.encoding = int(h.numbers[[2]int{field, encoding}])
	if p.encoding == encodingPlainDict {
		p.encoding = map[int]int{dataPage: encodingDict, dictionaryPage: encodingPlain}[p.kind]
	}
	levels := p.kind == dataPage2 || h.numbers[[2]int{field, 3}] == encodingLevels && h.numbers[[2]int{field, 4}] == encodingLevels
	switch {
	case (p.kind == dataPage || p.kind == dataPage2) && n >= 0 && n <= int64(p.values) && levels:
		p.values -= int(n)
		p.kind = dataPage
	case p.kind != dictionaryPage || n < 0 || n > size || p.encoding != encodingPlain:
		return false, fmt.Errorf("a page of kind %d, encoding %d, with %d values of %d", p.kind, p.encoding, n, p.values)
	}
	p.n = int(n)
	return true, nil
}

// second returns the content of a data page of Parquet's second version, as one of the first has it: there, levels have their length before
// them, and are not compressed on their own.
func (p *pages) second(numbers map[[2]int]int64, packed []byte, size int64) ([]byte, error) {
	repeat, def := numbers[[2]int{8, 6}], numbers[[2]int{8, 5}]
	most := min(size, int64(len(packed)))
	if repeat < 0 || repeat > most || def < 0 || def > most-repeat {
		return nil, fmt.Errorf("levels of %d and %d bytes", repeat, def)
	}
	out, rest, left := make([]byte, 0, size+8), packed[repeat+def:], size-repeat-def
	for _, levels := range [][]byte{packed[:repeat], packed[repeat : repeat+def]} {
		if len(levels) > 0 {
			out = append(binary.LittleEndian.AppendUint32(out, uint32(len(levels))), levels...)
		}
	}
	if is, said := numbers[[2]int{8, 7}]; left > 0 && (is == 1 || !said) {
		var err error
		if rest, err = unpacked(p.codec, rest, left); err != nil {
			return nil, err
		}
	}
	if int64(len(rest)) != left {
		return nil, fmt.Errorf("%d bytes of values where %d are announced", len(rest), left)
	}
	return append(out, rest...), nil
}

// A thriftReader reads a structure in Thrift's compact protocol, to find its numbers and
// whether the sizes in it can be true.
type thriftReader struct {
	data    []byte           // what is left
	numbers map[[2]int]int64 // by field, and by field in the structure that is a field; of lists, their lengths
}

// thriftDepth bounds how deep structures are nested.
const thriftDepth = 12

var errThrift = errors.New("it ends too early")

func (t *thriftReader) varint() uint64 {
	v, n := binary.Uvarint(t.data)
	if n <= 0 {
		panic(errThrift)
	}
	t.data = t.data[n:]
	return v
}

func (t *thriftReader) skip(n uint64) {
	if n > uint64(len(t.data)) {
		panic(errThrift)
	}
	t.data = t.data[n:]
}

func (t *thriftReader) byte() byte {
	b := t.data
	t.skip(1)
	return b[0]
}

// structure reads one; it is a field of another if its depth is not 0.
func (t *thriftReader) structure(depth, field int) (err error) {
	if depth == 0 {
		defer func() {
			if recover() != nil { // of ours, or an index: there are no bytes left
				err = errThrift
			}
		}()
	}
	if depth > thriftDepth {
		return errThrift
	}
	id := 0
	for {
		b := t.byte()
		if b == 0 {
			return nil
		}
		if b>>4 != 0 {
			id += int(b >> 4)
		} else {
			id = int(zigzag(t.varint()))
		}
		key := [2]int{id}
		if depth == 1 {
			key = [2]int{field, id}
		}
		if err := t.value(int(b&15), depth, id, key); err != nil {
			return err
		}
	}
}

func zigzag(v uint64) int64 { return int64(v>>1) ^ -int64(v&1) }

func (t *thriftReader) value(kind, depth, id int, key [2]int) error {
	note := func(v int64) {
		if t.numbers != nil && depth <= 1 {
			t.numbers[key] = v
		}
	}
	switch kind {
	case 1, 2: // true, false
		note(int64(2 - kind))
	case 3:
		t.skip(1)
	case 4, 5, 6: // numbers
		note(zigzag(t.varint()))
	case 7:
		t.skip(8)
	case 8: // text
		t.skip(t.varint())
	case 9, 10: // list, set
		head := t.byte()
		n := uint64(head >> 4)
		if n == 15 {
			n = t.varint()
		}
		if n > uint64(len(t.data)) { // each element takes a byte
			return errThrift
		}
		note(int64(n))
		for range n {
			if element := int(head & 15); element <= 2 {
				t.skip(1)
			} else if err := t.value(element, depth+2, 0, key); err != nil {
				return err
			}
		}
	case 12:
		return t.structure(depth+1, id)
	default: // a map: no structure of Parquet has one
		return errThrift
	}
	return nil
}
