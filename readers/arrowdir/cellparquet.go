package arrowdir

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"

	"github.com/apache/arrow/go/v15/parquet"
	"github.com/apache/arrow/go/v15/parquet/compress"
	"github.com/apache/arrow/go/v15/parquet/metadata"
	"github.com/apache/arrow/go/v15/parquet/schema"
	"github.com/klauspost/compress/gzip"
)

// IsParquet reports whether a file begins as one of Parquet.
func IsParquet(head []byte) bool { return bytes.HasPrefix(head, []byte(magic)) }

// parquetCells is a Parquet file of another program.
type parquetCells struct {
	file    *os.File
	size    int64
	meta    *metadata.FileMetaData
	columns []CellColumn
	leaves  []int // by column: number of its leaf
}

// OpenParquet opens a Parquet file of another program, whose size is given. Columns of lists and records have no cells.
func OpenParquet(f *os.File, size int64) (CellTable, error) {
	p := &parquetCells{file: f, size: size}
	damage, _ := attempt(func() (err error) {
		if p.meta, err = readFooter(f, size, cellColumns); err != nil {
			return err
		}
		for i := range p.meta.Schema.NumColumns() {
			c := p.meta.Schema.Column(i)
			column := parquetColumn(c)
			if c.MaxRepetitionLevel() > 0 || c.MaxDefinitionLevel() > 1 || len(c.ColumnPath()) != 1 {
				column = CellColumn{Name: c.ColumnPath()[0]}
				if n := len(p.columns); n > 0 && p.columns[n-1] == column {
					continue
				}
			}
			p.columns = append(p.columns, column)
			p.leaves = append(p.leaves, i)
		}
		return nil
	})
	return p, damage
}

func parquetColumn(c *schema.Column) CellColumn {
	out := CellColumn{Name: c.Name()}
	switch c.PhysicalType() {
	case parquet.Types.Int32, parquet.Types.Int64, parquet.Types.Boolean:
		out.Kind = IntCells
	case parquet.Types.Float, parquet.Types.Double:
		out.Kind = FloatCells
	case parquet.Types.ByteArray:
		out.Kind = TextCells
	}
	switch l := c.LogicalType().(type) {
	case *schema.TimestampLogicalType:
		out.Unit = unitOf(l.TimeUnit())
	case schema.TimestampLogicalType:
		out.Unit = unitOf(l.TimeUnit())
	case *schema.DecimalLogicalType, schema.DecimalLogicalType:
		out.Kind = NoCells
	}
	return out
}

func unitOf(u schema.TimeUnitType) float64 {
	switch u {
	case schema.TimeUnitMillis:
		return 1e6
	case schema.TimeUnitMicros:
		return 1e3
	case schema.TimeUnitNanos:
		return 1
	}
	return 0
}

// Columns implements CellTable.
func (p *parquetCells) Columns() []CellColumn { return p.columns }

// Read implements CellTable: row group by row group, page by page.
func (p *parquetCells) Read(want []int, each func(int64, int, []Cells) error, bad func(int64, error)) error {
	first := int64(1)
	for g, group := range p.meta.RowGroups {
		done := int64(0)
		damage, failed := attempt(func() error {
			readers := make([]*cellReader, len(want))
			for i, c := range want {
				var err error
				if readers[i], err = p.reader(g, c); err != nil {
					return fmt.Errorf("column %q: %w", p.columns[c].Name, err)
				}
			}
			cells := make([]Cells, len(want))
			for done < group.NumRows {
				n := int(min(cellRows, group.NumRows-done))
				for i, r := range readers {
					cells[i].reset()
					if err := r.read(&cells[i], n); err != nil {
						return fmt.Errorf("column %q: %w", p.columns[want[i]].Name, err)
					}
				}
				if err := each(first+done, n, cells); err != nil {
					return stopped{err}
				}
				done += int64(n)
			}
			return nil
		})
		if failed != nil {
			return failed
		}
		if damage != nil {
			bad(first+done, damage)
		}
		if first += max(0, group.NumRows); first < 0 {
			bad(1, errors.New("it announces too many rows"))
			return nil
		}
	}
	return nil
}

// A cellReader reads the values of a column of a row group.
//
//	at, end are where the pages that are left lie
//	left are values in them
type cellReader struct {
	file    io.ReaderAt
	at, end int64
	left    int64
	codec   compress.Compression
	kind    parquet.Type
	cells   CellKind
	levels  bool // values may be missing

	dictionary Cells
	page       cellPage
}

// A cellPage is the page at hand.
//
//	left are its values that are to be read
//	defined tells of each whether it is there; nil: all are
//	indexes are of the dictionary; nil: data are the values, or deltas
type cellPage struct {
	left    int64
	defined *runReader
	indexes *runReader
	data    []byte
	bit     int // of the first byte of data, of truth values
	deltas  []uint64
	isDelta bool
}

// reader returns the reader of a column of a row group.
func (p *parquetCells) reader(group, column int) (*cellReader, error) {
	leaf := p.leaves[column]
	rows := p.meta.RowGroups[group]
	if leaf >= len(rows.Columns) || rows.Columns[leaf] == nil || rows.Columns[leaf].MetaData == nil {
		return nil, errors.New("it has no values")
	}
	m, descr := rows.Columns[leaf].MetaData, p.meta.Schema.Column(leaf)
	start := chunkStart(m.DataPageOffset, m.DictionaryPageOffset)
	if start < 0 || m.TotalCompressedSize < 0 || start > p.size-m.TotalCompressedSize {
		return nil, fmt.Errorf("%d bytes at %d in a file of %d", m.TotalCompressedSize, start, p.size)
	}
	codec := compress.Compression(m.Codec)
	if codec != compress.Codecs.Gzip && !slices.Contains(codecs, codec) {
		return nil, fmt.Errorf("compression %v cannot be read; want snappy, zstd, gzip or none", codec)
	}
	if parquet.Type(m.Type) != descr.PhysicalType() || m.NumValues != rows.NumRows {
		return nil, fmt.Errorf("%d values in %d rows", m.NumValues, rows.NumRows)
	}
	return &cellReader{file: p.file, at: start, end: start + m.TotalCompressedSize, left: m.NumValues, codec: codec,
		kind: descr.PhysicalType(), cells: p.columns[column].Kind, levels: descr.MaxDefinitionLevel() > 0}, nil
}

// read adds the next n values.
func (r *cellReader) read(to *Cells, n int) error {
	for n > 0 {
		if r.page.left == 0 {
			if err := r.next(); err != nil {
				return err
			}
			continue
		}
		k := int(min(int64(n), r.page.left))
		if err := r.some(to, k); err != nil {
			return err
		}
		r.page.left -= int64(k)
		n -= k
	}
	return nil
}

// some adds values of the page.
func (r *cellReader) some(to *Cells, k int) error {
	first := len(to.Valid)
	to.Valid = slices.Grow(to.Valid, k)[:first+k]
	valid, there := to.Valid[first:], k
	for i := range valid {
		valid[i] = true
	}
	if r.page.defined != nil {
		there = 0
		for i := range valid {
			level, err := r.page.defined.next()
			if err != nil {
				return err
			}
			if valid[i] = level == 1; valid[i] {
				there++
			}
		}
	}
	var packed Cells // those that are there
	if there == k {
		packed = Cells{Ints: to.Ints, Floats: to.Floats, Texts: to.Texts}
	}
	if err := r.values(&packed, there); err != nil {
		return err
	}
	if there == k {
		to.Ints, to.Floats, to.Texts = packed.Ints, packed.Floats, packed.Texts
		return nil
	}
	spread(&to.Ints, packed.Ints, valid, r.cells == IntCells)
	spread(&to.Floats, packed.Floats, valid, r.cells == FloatCells)
	spread(&to.Texts, packed.Texts, valid, r.cells == TextCells)
	return nil
}

// spread adds values where they are valid, and zeros elsewhere.
func spread[E any](to *[]E, values []E, valid []bool, wanted bool) {
	if !wanted {
		return
	}
	var zero E
	for _, ok := range valid {
		if ok {
			*to, values = append(*to, values[0]), values[1:]
		} else {
			*to = append(*to, zero)
		}
	}
}

// values adds values that are there.
func (r *cellReader) values(to *Cells, n int) error {
	p := &r.page
	if p.indexes != nil {
		for range n {
			i, err := p.indexes.next()
			if err != nil {
				return err
			}
			if err := to.pick(&r.dictionary, r.cells, i); err != nil {
				return err
			}
		}
		return nil
	}
	if p.isDelta {
		if len(p.deltas) < n {
			return errShort
		}
		for _, v := range p.deltas[:n] {
			if r.kind == parquet.Types.Int32 {
				v = uint64(int64(int32(v)))
			}
			to.Ints = append(to.Ints, int64(v))
		}
		p.deltas = p.deltas[n:]
		return nil
	}
	return r.plain(to, n)
}

// pick adds an element of a dictionary.
func (c *Cells) pick(from *Cells, kind CellKind, i uint32) error {
	if int64(i) >= int64(max(len(from.Ints), len(from.Floats), len(from.Texts))) {
		return fmt.Errorf("element %d is not in its dictionary", i)
	}
	switch kind {
	case IntCells:
		c.Ints = append(c.Ints, from.Ints[i])
	case FloatCells:
		c.Floats = append(c.Floats, from.Floats[i])
	case TextCells:
		c.Texts = append(c.Texts, from.Texts[i])
	}
	return nil
}

// plain adds values as they stand.
func (r *cellReader) plain(to *Cells, n int) error {
	p := &r.page
	width := map[parquet.Type]int{parquet.Types.Int32: 4, parquet.Types.Float: 4, parquet.Types.Int64: 8, parquet.Types.Double: 8}[r.kind]
	if len(p.data)/max(1, width) < n && width > 0 {
		return errShort
	}
	switch r.kind {
	case parquet.Types.Int32:
		for i := range n {
			to.Ints = append(to.Ints, int64(int32(binary.LittleEndian.Uint32(p.data[4*i:]))))
		}
	case parquet.Types.Int64:
		for i := range n {
			to.Ints = append(to.Ints, int64(binary.LittleEndian.Uint64(p.data[8*i:])))
		}
	case parquet.Types.Float:
		for i := range n {
			to.Floats = append(to.Floats, float64(math.Float32frombits(binary.LittleEndian.Uint32(p.data[4*i:]))))
		}
	case parquet.Types.Double:
		for i := range n {
			to.Floats = append(to.Floats, math.Float64frombits(binary.LittleEndian.Uint64(p.data[8*i:])))
		}
	case parquet.Types.Boolean:
		for range n {
			if len(p.data) == 0 {
				return errShort
			}
			to.Ints = append(to.Ints, int64(p.data[0]>>p.bit&1))
			if p.bit++; p.bit == 8 {
				p.bit, p.data = 0, p.data[1:]
			}
		}
	case parquet.Types.ByteArray:
		for range n {
			if len(p.data) < 4 || uint64(binary.LittleEndian.Uint32(p.data)) > uint64(len(p.data)-4) {
				return errShort
			}
			end := 4 + int(binary.LittleEndian.Uint32(p.data))
			to.Texts, p.data = append(to.Texts, p.data[4:end]), p.data[end:]
		}
	default:
		return fmt.Errorf("values of type %v", r.kind)
	}
	p.data = p.data[width*n:]
	return nil
}

// pageHead bounds the head of a page, which may hold the least and the largest value.
const pageHead = 64 << 10

const dataPageV2 = 3

// next goes on to the next page of values.
func (r *cellReader) next() error {
	if r.left <= 0 || r.at >= r.end {
		return errShort
	}
	head, err := bytesAt(r.file, r.at, min(pageHead, r.end-r.at))
	if err != nil {
		return err
	}
	h := thriftReader{data: head, numbers: make(map[[2]int]int64)}
	if err := h.structure(0, 0); err != nil {
		return err
	}
	r.at += int64(len(head) - len(h.data))
	size, packed, kind := h.numbers[[2]int{2}], h.numbers[[2]int{3}], h.numbers[[2]int{1}]
	if packed < 0 || packed > r.end-r.at || size < 0 || size > cellMemory {
		return fmt.Errorf("a page of %d bytes, %d compressed, where %d are left", size, packed, r.end-r.at)
	}
	data, err := bytesAt(r.file, r.at, packed)
	if err != nil {
		return err
	}
	r.at += packed
	field, known := map[int64]int{dataPage: 5, dictionaryPage: 7, dataPageV2: 8}[kind]
	if !known {
		return nil // an index
	}
	number := func(id int) int64 { return h.numbers[[2]int{field, id}] }
	n := number(1)
	if kind == dataPageV2 {
		return r.second(data, size, n, number(4), number(5), number(6), h.numbers[[2]int{field, 7}], h)
	}
	if data, err = cellsUnpacked(r.codec, data, size); err != nil {
		return err
	}
	if kind == dictionaryPage {
		if n < 0 || n > size {
			return fmt.Errorf("a dictionary of %d values in %d bytes", n, size)
		}
		r.dictionary.reset()
		r.page = cellPage{data: data}
		err := r.plain(&r.dictionary, int(n))
		r.page = cellPage{}
		return err
	}
	var levels []byte
	if r.levels {
		if len(data) < 4 || uint64(binary.LittleEndian.Uint32(data)) > uint64(len(data)-4) {
			return errShort
		}
		end := 4 + binary.LittleEndian.Uint32(data)
		levels, data = data[4:end], data[end:]
	}
	return r.begin(n, number(2), levels, data)
}

// second begins a page of the second version, whose levels are not compressed.
func (r *cellReader) second(data []byte, size, n, encoding, def, rep, compressed int64, h thriftReader) error {
	if def < 0 || rep != 0 || def > int64(len(data)) || def > size {
		return fmt.Errorf("a page of %d bytes with levels of %d and %d", len(data), def, rep)
	}
	levels, values := data[:def], data[def:]
	if _, said := h.numbers[[2]int{8, 7}]; !said || compressed != 0 {
		var err error
		if values, err = cellsUnpacked(r.codec, values, size-def); err != nil {
			return err
		}
	}
	return r.begin(n, encoding, levels, values)
}

// pageValues bounds the values of a page: a run of equal ones takes a few bytes, however many they are.
const pageValues = 1 << 26

// begin begins a page of n values.
func (r *cellReader) begin(n, encoding int64, levels, data []byte) error {
	if most := min(r.left, pageValues); n < 0 || n > most {
		return fmt.Errorf("a page of %d values where at most %d can be", n, most)
	}
	r.left -= n
	r.page = cellPage{left: n, data: data}
	if r.levels {
		r.page.defined = &runReader{data: levels, width: 1}
	}
	switch encoding {
	case encodingPlain:
	case encodingDict, encodingPlainDict:
		if len(data) == 0 {
			if n > 0 && !r.levels {
				return errShort
			}
			data = []byte{0}
		}
		if data[0] > 32 {
			return fmt.Errorf("numbers of %d bits", data[0])
		}
		r.page.indexes = &runReader{data: data[1:], width: uint(data[0])}
	case encodingDelta:
		return r.beginDeltas()
	case encodingLevels: // of truth values
		if len(data) < 4 || r.kind != parquet.Types.Boolean {
			return errShort
		}
		r.dictionary = Cells{Ints: []int64{0, 1}}
		r.page.indexes = &runReader{data: data[4:], width: 1}
	default:
		return fmt.Errorf("encoding %d cannot be read; want plain, dictionary or differences", encoding)
	}
	return nil
}

// beginDeltas decodes a page of differences. Each block of 128 takes 5 bytes or more.
func (r *cellReader) beginDeltas() error {
	h := thriftReader{data: r.page.data}
	var count uint64
	if damage, _ := attempt(func() error {
		h.varint()
		h.varint()
		count = h.varint()
		return nil
	}); damage != nil {
		return damage
	}
	if count > uint64(r.page.left) || count > 26*uint64(len(r.page.data))+128 {
		return fmt.Errorf("%d differences in a page of %d bytes", count, len(r.page.data))
	}
	var err error
	r.page.isDelta = true
	r.page.deltas, err = deltas[uint64](nil, r.page.data, int(count))
	return err
}

// cellsUnpacked returns the content of a page, which has a size or is damaged.
func cellsUnpacked(codec compress.Compression, packed []byte, size int64) (out []byte, err error) {
	if codec == compress.Codecs.Gzip {
		z, err := gzip.NewReader(bytes.NewReader(packed))
		if err != nil {
			return nil, err
		}
		if out, err = io.ReadAll(io.LimitReader(z, size+1)); err != nil {
			return nil, err
		}
	} else if size == 0 && len(packed) == 0 {
		return nil, nil
	} else if out, err = unpacked(codec, packed, size); err != nil {
		return nil, err
	}
	if int64(len(out)) != size {
		return nil, fmt.Errorf("a page of %d bytes has %d", size, len(out))
	}
	return out, nil
}

// A runReader reads numbers of a width in runs, one at a time.
type runReader struct {
	data   []byte
	width  uint
	repeat uint64 // how often value comes again
	value  uint32
	packed []byte // of a run of different numbers
	bit    uint64 // in packed
	count  uint64 // of numbers in packed that are left
}

func (r *runReader) next() (uint32, error) {
	for {
		switch {
		case r.repeat > 0:
			r.repeat--
			return r.value, nil
		case r.count > 0:
			at, shift := r.bit/8, r.bit%8
			v := uint64At(r.packed, uint(at)) >> shift
			r.bit += uint64(r.width)
			r.count--
			if r.bit > 8*uint64(len(r.packed)) {
				return 0, errShort
			}
			return uint32(v & (1<<r.width - 1)), nil
		}
		head, n := binary.Uvarint(r.data)
		if n <= 0 {
			return 0, errShort
		}
		r.data = r.data[n:]
		if head&1 == 0 {
			bytes := int(r.width+7) / 8
			if len(r.data) < bytes {
				return 0, errShort
			}
			r.value, r.repeat = uint32(uint64At(r.data, 0)&(1<<r.width-1)), head>>1
			r.data = r.data[bytes:]
			continue
		}
		groups := min(head>>1, math.MaxInt32)
		size := min(groups*uint64(r.width), uint64(len(r.data)))
		r.packed, r.bit, r.count = r.data[:size], 0, groups*8
		r.data = r.data[size:]
	}
}
