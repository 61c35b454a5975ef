package arrowdir

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strings"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"
	"github.com/apache/arrow/go/v15/parquet"
	"github.com/apache/arrow/go/v15/parquet/compress"
	"github.com/apache/arrow/go/v15/parquet/file"
	"github.com/apache/arrow/go/v15/parquet/metadata"
	"github.com/apache/arrow/go/v15/parquet/schema"
)

// magic begins and ends a Parquet file.
const magic = "PAR1"

// parquetSchema returns the schema of a Parquet file for the columns of Arrow's.
func parquetSchema(s *arrow.Schema) *schema.Schema {
	var nodes schema.FieldList
	for _, f := range s.Fields() {
		repetition := parquet.Repetitions.Required
		if f.Nullable {
			repetition = parquet.Repetitions.Optional
		}
		if l, ok := f.Type.(*arrow.ListType); ok {
			list, err := schema.ListOfWithName(f.Name, parquetNode("element", l.Elem(), parquet.Repetitions.Optional), repetition, -1)
			nodes = append(nodes, must(list, err))
			continue
		}
		nodes = append(nodes, parquetNode(f.Name, f.Type, repetition))
	}
	return schema.NewSchema(must(schema.NewGroupNode("schema", parquet.Repetitions.Repeated, nodes, -1)))
}

func parquetNode(name string, t arrow.DataType, r parquet.Repetition) schema.Node {
	logical, physical := schema.LogicalType(schema.NoLogicalType{}), parquet.Types.Undefined
	switch t := t.(type) {
	case *arrow.Uint8Type:
		logical, physical = schema.NewIntLogicalType(8, false), parquet.Types.Int32
	case *arrow.Uint32Type:
		logical, physical = schema.NewIntLogicalType(32, false), parquet.Types.Int32
	case *arrow.Uint64Type:
		logical, physical = schema.NewIntLogicalType(64, false), parquet.Types.Int64
	case *arrow.Int64Type:
		logical, physical = schema.NewIntLogicalType(64, true), parquet.Types.Int64
	case *arrow.Float64Type:
		physical = parquet.Types.Double
	case *arrow.BooleanType:
		physical = parquet.Types.Boolean
	case *arrow.BinaryType:
		physical = parquet.Types.ByteArray
	case *arrow.StringType:
		logical, physical = schema.StringLogicalType{}, parquet.Types.ByteArray
	case *arrow.DictionaryType:
		return parquetNode(name, t.ValueType, r)
	}
	return must(schema.NewPrimitiveNodeLogical(name, r, logical, physical, -1, -1))
}

// must is for what only a mistake of ours makes fail.
func must[T any](v T, err error) T {
	if err != nil {
		panic(fmt.Sprintf("arrowdir: %v", err))
	}
	return v
}

// parquetWriter writes a Parquet file, a row group for each record. Row groups are encoded
// each on its own; the metadata of all are written at the end.
type parquetWriter struct {
	file   *outputFile
	schema *schema.Schema
	props  *parquet.WriterProperties
	meta   *metadata.FileMetaData
	ended  func() error // is asked before each column whether nobody wants the file any more; nil: somebody does
}

// Columns that ascend, or nearly so: differences are small where values repeat seldom. The
// library cannot write differences of a column that has no value at all, so such columns have one
// in each row.
var ascending = []string{"seq", "time", "request", "start_ns", "send_ns"}

// An encoded is a row group in memory.
type encoded struct {
	pages bytes.Buffer
	meta  *metadata.FileMetaData
}

func newParquetWriter(name string, s *arrow.Schema) (*parquetWriter, error) {
	properties := []parquet.WriterProperty{parquet.WithCompression(compress.Codecs.Zstd), parquet.WithBatchSize(MaxGroupRows)}
	for _, column := range ascending {
		if fields, ok := s.FieldsByName(column); ok && !fields[0].Nullable {
			properties = append(properties, parquet.WithDictionaryFor(column, false),
				parquet.WithEncodingFor(column, parquet.Encodings.DeltaBinaryPacked))
		}
	}
	w := &parquetWriter{schema: parquetSchema(s), props: parquet.NewWriterProperties(properties...)}
	var err error
	if w.meta, err = metadata.NewFileMetadataBuilder(w.schema, w.props, nil).Finish(); err != nil {
		return nil, err
	}
	if w.file, err = createOutput(name); err != nil {
		return nil, err
	}
	if _, err = io.WriteString(w.file, magic); err != nil {
		return nil, errors.Join(err, w.file.Close())
	}
	return w, nil
}

// encode makes a row group of a record.
func (w *parquetWriter) encode(r arrow.Record, e *encoded) error {
	e.pages.Reset()
	all := metadata.NewFileMetadataBuilder(w.schema, w.props, nil)
	group := all.AppendRowGroup()
	for _, a := range r.Columns() {
		if w.ended != nil {
			if err := w.ended(); err != nil {
				return err
			}
		}
		chunk := group.NextColumnChunk()
		out := file.NewColumnChunkWriter(chunk, newPageWriter(&e.pages, chunk), w.props)
		if err := errors.Join(writeColumn(out, a), out.Close()); err != nil {
			return err
		}
	}
	group.SetNumRows(int(r.NumRows()))
	err := group.Finish(int64(e.pages.Len()), 0)
	if err != nil {
		return err
	}
	e.meta, err = all.Finish()
	return err
}

// put writes a row group, and moves what its metadata say to the group's place in the file.
func (w *parquetWriter) put(_ arrow.Record, e *encoded) error {
	by := w.file.pos - pagesFrom
	for _, group := range e.meta.RowGroups {
		*group.FileOffset += by
		group.Ordinal = nil // it has 16 bits
		for _, c := range group.Columns {
			c.FileOffset += by
			c.MetaData.DataPageOffset += by
			if c.MetaData.DictionaryPageOffset != nil {
				*c.MetaData.DictionaryPageOffset += by
			}
		}
	}
	if err := w.meta.AppendRowGroups(e.meta); err != nil {
		return err
	}
	_, err := w.file.Write(e.pages.Bytes())
	return err
}

func (w *parquetWriter) close() (checksum uint32, err error) {
	n, err := w.meta.WriteTo(w.file, nil)
	if err == nil {
		_, err = w.file.Write(append(binary.LittleEndian.AppendUint32(nil, uint32(n)), magic...))
	}
	err = errors.Join(err, w.file.Close())
	return w.file.sum.Sum32(), err
}

// writeColumn writes an array as a column of a row group.
func writeColumn(w file.ColumnChunkWriter, a arrow.Array) (err error) {
	if a.Len() == 0 {
		return nil
	}
	var def, repeat []int16
	if list, ok := a.(*array.List); ok {
		def, repeat, a = listLevels(list)
	} else if w.LevelInfo().DefLevel > 0 {
		def = make([]int16, a.Len())
		for i := range def {
			if a.IsValid(i) {
				def[i] = 1
			}
		}
	}
	switch w := w.(type) {
	case *file.Int32ColumnChunkWriter:
		values := int32s(a)
		if ok, err := writeIndexes(w, arrow.PrimitiveTypes.Int32, values, def); ok || err != nil {
			return err
		}
		_, err = w.WriteBatch(values, def, repeat)
	case *file.Int64ColumnChunkWriter:
		values := words[int64](a)
		if ok, err := writeIndexes(w, arrow.PrimitiveTypes.Int64, values, def); ok || err != nil {
			return err
		}
		_, err = w.WriteBatch(valid(a, values), def, repeat)
	case *file.Float64ColumnChunkWriter:
		_, err = w.WriteBatch(words[float64](a), def, repeat)
	case *file.BooleanColumnChunkWriter:
		values := make([]bool, a.Len())
		for i := range values {
			values[i] = a.(*array.Boolean).Value(i)
		}
		_, err = w.WriteBatch(values, def, repeat)
	case *file.ByteArrayColumnChunkWriter:
		_, err = w.WriteBatch(valid(a, texts(a)), def, repeat)
	}
	return err
}

// writeIndexes writes a column of few different numbers, none missing, as indexes of a
// dictionary. The library would do the same, but allocates for each number.
func writeIndexes[E int32 | int64](w file.ColumnChunkWriter, t arrow.DataType, values []E, def []int16) (bool, error) {
	e, ok := w.CurrentEncoder().(interface{ PutDictionary(arrow.Array) error })
	if !ok || def != nil {
		return false, nil
	}
	dictionary, indexes := index(values)
	if dictionary == nil {
		return false, nil
	}
	switch s := w.PageStatistics().(type) {
	case *metadata.Int32Statistics:
		s.Update(any(dictionary).([]int32), 0)
	case *metadata.Int64Statistics:
		s.Update(any(dictionary).([]int64), 0)
	}
	if err := e.PutDictionary(fixed(t, dictionary)); err != nil {
		return false, err
	}
	return true, w.WriteDictIndices(fixed(arrow.PrimitiveTypes.Int32, indexes), nil, nil)
}

// maxDictionary bounds the different numbers of a column that a dictionary is good for.
const maxDictionary = 1 << 14

// index returns the different numbers among values, in order of their first occurrence, and
// for each value which it is; nothing if they are too many.
func index[E int32 | int64](values []E) (dictionary []E, indexes []int32) {
	type entry struct {
		value E
		next  int32 // index + 1; 0: none
	}
	var recent [256]entry // of the numbers that were met last, one for each hash
	all := make(map[E]int32)
	indexes = make([]int32, len(values))
	for i, v := range values {
		at := &recent[uint64(v)*0x9E3779B97F4A7C15>>56]
		if at.next == 0 || at.value != v {
			n, ok := all[v]
			if !ok {
				if len(dictionary) == maxDictionary {
					return nil, nil
				}
				n = int32(len(dictionary)) + 1
				dictionary, all[v] = append(dictionary, v), n
			}
			*at = entry{v, n}
		}
		indexes[i] = at.next - 1
	}
	return dictionary, indexes
}

// listLevels returns the levels of lists, and their elements.
func listLevels(a *array.List) (def, repeat []int16, values arrow.Array) {
	first, _ := a.ValueOffsets(0)
	last := first
	for i := range a.Len() {
		from, to := a.ValueOffsets(i)
		if from == to {
			def, repeat = append(def, 0), append(repeat, 0)
		}
		for j := from; j < to; j++ {
			def, repeat = append(def, 2), append(repeat, min(int16(j-from), 1))
		}
		last = to
	}
	return def, repeat, array.NewSlice(a.ListValues(), first, last)
}

// words returns the memory of an array of numbers.
func words[T any](a arrow.Array) (values []T) {
	if a.Len() > 0 {
		numbers[T]{&values}.set(a.Data().Buffers()[1].Bytes(), a.Len(), a.Data().Offset())
	}
	return values
}

func int32s(a arrow.Array) []int32 {
	if a.DataType().ID() != arrow.UINT8 {
		return words[int32](a)
	}
	wide := make([]int32, a.Len())
	for i, v := range words[uint8](a) {
		wide[i] = int32(v)
	}
	return wide
}

func texts(a arrow.Array) []parquet.ByteArray {
	out := make([]parquet.ByteArray, a.Len())
	var names []parquet.ByteArray
	if d, ok := a.(*array.Dictionary); ok {
		names = texts(d.Dictionary())
	}
	for i := range out {
		switch a := a.(type) {
		case *array.String:
			out[i] = parquet.ByteArray(a.Value(i))
		case *array.Binary:
			out[i] = a.Value(i)
		case *array.Dictionary:
			out[i] = names[a.GetValueIndex(i)]
		}
	}
	return out
}

// valid returns the values that are not null.
func valid[T any](a arrow.Array, values []T) []T {
	if a.NullN() == 0 {
		return values
	}
	var out []T
	for i, v := range values {
		if a.IsValid(i) {
			out = append(out, v)
		}
	}
	return out
}

// parquetFile reads a Parquet file of ours, or one that another program has made of it.
type parquetFile struct {
	file   *os.File
	meta   *metadata.FileMetaData
	schema *arrow.Schema
	limit  int64  // of what the table may take
	by     string // who has written it; "": we have
}

// ours is how the names begin by which files of ours say who has written them.
const ours = "parquet-go "

// openParquet reads the metadata of a file whose rows must have the schema. So many bytes
// will be made of each. A file without the right checksum must be of another program.
func openParquet(f *os.File, size int64, s *arrow.Schema, perRow int64, right bool) (_ *parquetFile, err error) {
	p := &parquetFile{file: f, schema: s, limit: tableLimit(size)}
	if p.meta, err = readFooter(f, size, s.NumFields()); !right {
		if err != nil || strings.HasPrefix(p.meta.GetCreatedBy(), ours) {
			return nil, errDamaged
		}
		p.by = cmp.Or(p.meta.GetCreatedBy(), "a program that does not say which")
	}
	if err == nil {
		err = p.checkSchema()
	}
	if err == nil {
		err = p.check(size, perRow)
	}
	return p, err
}

// readFooter reads the metadata of a file of at most so many columns.
func readFooter(f *os.File, size int64, columns int) (*metadata.FileMetaData, error) {
	tail := make([]byte, 4+len(magic))
	if _, err := f.ReadAt(tail, size-int64(len(tail))); err != nil || string(tail[4:]) != magic {
		return nil, errors.New("it has no end of a Parquet file")
	}
	n := int64(binary.LittleEndian.Uint32(tail))
	if n > size-int64(len(tail)) {
		return nil, fmt.Errorf("metadata of %d bytes in a file of %d", n, size)
	}
	footer := make([]byte, n)
	if _, err := f.ReadAt(footer, size-int64(len(tail))-n); err != nil {
		return nil, err
	}
	t := thriftReader{data: footer, numbers: make(map[[2]int]int64)}
	if err := t.structure(0, 0); err != nil {
		return nil, err
	}
	const elements = 2 // the field of the schema
	if n := t.numbers[[2]int{elements}]; n > int64(1+3*columns) {
		return nil, fmt.Errorf("a schema of %d elements", n)
	}
	return metadata.NewFileMetaData(footer, nil)
}

// checkSchema states that the columns have the names and the values of those that are wanted. Whether values may be
// missing, and what else is said of their type, is the form of a writer: what is read is that none is.
func (f *parquetFile) checkSchema() error {
	got, want := f.meta.Schema, parquetSchema(f.schema)
	differ := got.NumColumns() != want.NumColumns() || got.Root().NumFields() != want.NumColumns()
	for i := 0; !differ && i < want.NumColumns(); i++ {
		g, w := got.Column(i), want.Column(i)
		differ = got.Root().Field(i).Name() != f.schema.Field(i).Name || g.MaxRepetitionLevel() != w.MaxRepetitionLevel() ||
			g.MaxDefinitionLevel() > 1+2*w.MaxRepetitionLevel() || g.PhysicalType() != w.PhysicalType()
		if f.empty() && f.by != "" { // who knows no value knows no type
			differ = got.Root().Field(i).Name() != f.schema.Field(i).Name
		}
	}
	if differ {
		return fmt.Errorf("its columns are %v, want %v", got, want)
	}
	return nil
}

// empty reports whether the file has no row.
func (f *parquetFile) empty() bool {
	for _, group := range f.meta.RowGroups {
		if group.NumRows != 0 {
			return false
		}
	}
	return true
}

// starts returns the first row of each row group, and the number of rows.
func (f *parquetFile) starts() ([]int, error) {
	var l layout
	for i := range f.meta.RowGroups {
		l.Groups = append(l.Groups, f.rows(i))
	}
	return l.starts()
}

// check states that the columns of all row groups lie in the file, and that the table does
// not take more than is plausible.
func (f *parquetFile) check(size, perRow int64) error {
	room := f.limit
	for i, group := range f.meta.RowGroups {
		if group.NumRows < 0 || len(group.Columns) != f.meta.Schema.NumColumns() {
			return fmt.Errorf("row group %d has %d rows in %d columns", i, group.NumRows, len(group.Columns))
		}
		if perRow > 0 && group.NumRows > room/perRow {
			return fmt.Errorf("row group %d has %d rows, more than is plausible", i, group.NumRows)
		}
		room -= perRow * group.NumRows
		for c, chunk := range group.Columns {
			m, descr := chunk.MetaData, f.meta.Schema.Column(c)
			start := chunkStart(m.DataPageOffset, m.DictionaryPageOffset)
			packed, unpacked := m.TotalCompressedSize, m.TotalUncompressedSize
			if start < 0 || packed < 0 || packed > size || start > size-packed {
				return fmt.Errorf("row group %d: column %d is %d bytes at %d in a file of %d", i, c, packed, start, size)
			}
			if parquet.Type(m.Type) != descr.PhysicalType() || !slices.Contains(codecs, compress.Compression(m.Codec)) ||
				descr.MaxRepetitionLevel() == 0 && m.NumValues != group.NumRows {
				return fmt.Errorf("row group %d: column %d has %d values of type %v, codec %v", i, c, m.NumValues, m.Type, m.Codec)
			}
			width := valueMemory[descr.PhysicalType()] + 8*int64(descr.MaxRepetitionLevel())
			if descr.MaxRepetitionLevel() == 0 {
				width += 4 * int64(descr.MaxDefinitionLevel())
			}
			if m.NumValues < 0 || m.NumValues > room/width || unpacked < 0 || unpacked > room-width*m.NumValues {
				return fmt.Errorf("row group %d: column %d has %d values and %d bytes, more than is plausible", i, c, m.NumValues, unpacked)
			}
			room -= width*m.NumValues + unpacked
		}
	}
	return nil
}

// codecs are how pages may be packed: as we do, and as most programs do.
var codecs = []compress.Compression{compress.Codecs.Zstd, compress.Codecs.Snappy, compress.Codecs.Uncompressed}

// valueMemory is how much memory a value takes, in bytes.
var valueMemory = map[parquet.Type]int64{parquet.Types.Boolean: 4, parquet.Types.Int32: 4, parquet.Types.Int64: 8,
	parquet.Types.Double: 8, parquet.Types.ByteArray: 48}

// chunkStart returns where the pages of a column begin: with the dictionary, if there is one.
func chunkStart(data int64, dictionary *int64) int64 {
	if dictionary != nil && *dictionary > 0 {
		return min(data, *dictionary)
	}
	return data
}

func (f *parquetFile) groups() int { return len(f.meta.RowGroups) }

func (f *parquetFile) rows(group int) int { return int(f.meta.RowGroups[group].NumRows) }

func (f *parquetFile) close() error { return f.file.Close() }

// record decodes a row group.
func (f *parquetFile) record(group int) (arrow.Record, error) {
	arrays := make([]arrow.Array, f.schema.NumFields())
	for i, field := range f.schema.Fields() {
		var err error
		if arrays[i], err = f.column(group, i, field.Type); err == nil && arrays[i].Len() != f.rows(group) {
			err = fmt.Errorf("%d rows, want %d", arrays[i].Len(), f.rows(group))
		}
		if err != nil {
			return nil, fmt.Errorf("row group %d: column %q: %w", group, field.Name, err)
		}
	}
	return array.NewRecord(f.schema, arrays, int64(f.rows(group))), nil
}

// column decodes a column of a row group. Each column has one leaf.
func (f *parquetFile) column(group, i int, t arrow.DataType) (arrow.Array, error) {
	m := f.meta.RowGroups[group].Columns[i].MetaData
	start := chunkStart(m.DataPageOffset, m.DictionaryPageOffset)
	descr := f.meta.Schema.Column(i)
	p := &pages{packed: make([]byte, m.TotalCompressedSize), room: m.TotalUncompressedSize, values: int(m.NumValues),
		codec: compress.Compression(m.Codec), most: uint32(descr.MaxDefinitionLevel())}
	if _, err := f.file.ReadAt(p.packed, start); err != nil && len(p.packed) > 0 {
		return nil, err
	}
	if l, ok := t.(*arrow.ListType); ok {
		p.lists, p.none = true, p.most-1
		if descr.SchemaNode().RepetitionType() == parquet.Repetitions.Optional {
			p.none--
		}
		p.repeat, p.def = make([]uint32, 0, p.values), make([]uint32, 0, p.values)
		elements, err := f.values(p, l.Elem())
		if err != nil {
			return nil, err
		}
		return lists(p, l, elements)
	}
	return f.values(p, t)
}

// values decodes the values of a column that are there.
func (f *parquetFile) values(p *pages, t arrow.DataType) (arrow.Array, error) {
	switch t.ID() {
	case arrow.UINT8:
		wide, err := decode(p, plain32, encodingDelta, deltas)
		values := make([]uint8, len(wide))
		for i, v := range wide {
			if values[i] = uint8(v); v > math.MaxUint8 {
				return nil, fmt.Errorf("%d does not fit into 8 bits", v)
			}
		}
		return fixed(t, values), err
	case arrow.UINT32:
		values, err := decode(p, plain32, encodingDelta, deltas)
		return fixed(t, values), err
	case arrow.INT64, arrow.UINT64, arrow.FLOAT64:
		values, err := decode(p, plain64, encodingDelta, deltas)
		return fixed(t, values), err
	case arrow.BOOL:
		values, err := decode(p, plainBools, encodingLevels, runBools)
		b := array.NewBooleanBuilder(memory.NewGoAllocator())
		b.AppendValues(values, nil)
		return b.NewArray(), err
	}
	values, err := decode(p, plainBytes, 0, nil)
	if err != nil {
		return nil, err
	}
	bytes := int64(0)
	for _, v := range values {
		if bytes += int64(len(v)); bytes > min(f.limit, math.MaxInt32) {
			return nil, errors.New("its texts are implausibly long")
		}
	}
	b := array.NewBinaryBuilder(memory.NewGoAllocator(), t.(arrow.BinaryDataType))
	b.ReserveData(int(bytes))
	b.AppendValues(values, nil)
	d := b.NewArray().Data() // of the type of bytes, whatever the builder's
	return array.MakeFromData(array.NewData(t, d.Len(), d.Buffers(), nil, 0, 0)), nil
}

// fixed returns numbers as an array that shares their memory.
func fixed[T any](t arrow.DataType, values []T) arrow.Array {
	return array.MakeFromData(column{"", t, numbers[T]{&values}}.data())
}

// lists makes lists of elements by their levels.
func lists(p *pages, t *arrow.ListType, elements arrow.Array) (arrow.Array, error) {
	var offsets []int32
	at := int32(0)
	for i, def := range p.def {
		if def == 1 || def > 2 || p.repeat[i] > 1 || p.repeat[i] == 1 && (i == 0 || def == 0 || p.def[i-1] == 0) {
			return nil, fmt.Errorf("a value %d with levels %d and %d", i, def, p.repeat[i])
		}
		if p.repeat[i] == 0 {
			offsets = append(offsets, at)
		}
		at += int32(def / 2)
	}
	n := len(offsets)
	buffer := memory.NewBufferBytes(arrow.Int32Traits.CastToBytes(append(offsets, at)))
	return array.NewListData(array.NewData(t, n, []*memory.Buffer{nil, buffer}, []arrow.ArrayData{elements.Data()}, 0, 0)), nil
}
