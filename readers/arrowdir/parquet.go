package arrowdir

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"
	"github.com/apache/arrow/go/v15/parquet"
	"github.com/apache/arrow/go/v15/parquet/compress"
	"github.com/apache/arrow/go/v15/parquet/file"
	"github.com/apache/arrow/go/v15/parquet/pqarrow"
)

// parquetWriter writes a Parquet file, one row group for consecutive batches of a
// location.
type parquetWriter struct {
	file *outputFile
	out  *pqarrow.FileWriter
	open bool  // a row group is
	rows int64 // in it
}

// Columns that ascend, or nearly so: differences are small where values repeat seldom.
var ascending = []string{"seq", "time", "request", "start_ns", "send_ns"}

func newParquetWriter(name string, schema *arrow.Schema, more ...parquet.WriterProperty) (_ *parquetWriter, err error) {
	shareEncoders()
	f, err := createOutput(name)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			f.Close()
		}
	}()
	defer f.rescue(&err)
	properties := append(more, parquet.WithCompression(compress.Codecs.Zstd))
	for _, column := range ascending {
		if schema.HasField(column) {
			properties = append(properties, parquet.WithDictionaryFor(column, false),
				parquet.WithEncodingFor(column, parquet.Encodings.DeltaBinaryPacked))
		}
	}
	out, err := pqarrow.NewFileWriter(schema, f, parquet.NewWriterProperties(properties...), pqarrow.DefaultWriterProps())
	if err != nil {
		return nil, err
	}
	return &parquetWriter{file: f, out: out}, nil
}

func (w *parquetWriter) write(r arrow.Record, begin bool) (begun bool, err error) {
	defer w.file.rescue(&err)
	begun = !w.open || begin || w.rows+r.NumRows() > MaxGroupRows
	if begun {
		w.out.NewBufferedRowGroup()
		w.open, w.rows = true, 0
	}
	w.rows += r.NumRows()
	return begun, w.out.WriteBuffered(r)
}

// close also closes the file: the library's writer does that, unless it fails before.
func (w *parquetWriter) close() (checksum uint32, err error) {
	defer w.file.Close() // a second time, it has no effect
	defer w.file.rescue(&err)
	err = w.out.Close()
	return w.file.sum.Sum32(), err
}

// parquetFile reads a Parquet file.
type parquetFile struct {
	size   int64
	in     *file.Reader
	reader *pqarrow.FileReader
	schema *arrow.Schema
}

// readRows is the number of rows that are read at a time.
const readRows = 1 << 15

// maxExpansion bounds the memory that a byte of a Parquet file may stand for: rows that
// repeat take next to nothing in the file.
const maxExpansion = 4000

// openParquet opens a file whose rows must have the schema.
func openParquet(name string, schema *arrow.Schema) (*parquetFile, error) {
	shareEncoders()
	info, err := os.Stat(name)
	if err != nil {
		return nil, err
	}
	alloc := newBounded(64<<20 + maxExpansion*info.Size())
	in, err := file.OpenParquetFile(name, false, file.WithReadProps(parquet.NewReaderProperties(alloc)))
	if err != nil {
		return nil, err
	}
	f := &parquetFile{size: info.Size(), in: in}
	if err := f.init(schema, alloc); err != nil {
		return nil, errors.Join(err, in.Close())
	}
	return f, nil
}

// init finds out the columns by Parquet's own schema. An Arrow schema in the metadata, which
// the library would believe, is none of ours.
func (f *parquetFile) init(schema *arrow.Schema, alloc memory.Allocator) (err error) {
	if f.in.MetaData().KeyValueMetadata().FindValue("ARROW:schema") != nil {
		return errors.New("it holds an Arrow schema")
	}
	if f.reader, err = pqarrow.NewFileReader(f.in, pqarrow.ArrowReadProperties{}, alloc); err != nil {
		return err
	}
	if f.schema, err = f.reader.Schema(); err != nil {
		return err
	}
	return checkSchema(f.schema, schema)
}

func (f *parquetFile) groups() int { return f.in.NumRowGroups() }

// records iterates over some of the row groups. Columns are read one after the other: the
// library's reader of records would open them in goroutines.
func (f *parquetFile) records(indices []int) (recordIterator, error) {
	if err := f.checkChunks(indices); err != nil {
		return recordIterator{}, err
	}
	if len(indices) == 0 {
		return recordIterator{next: func() (arrow.Record, error) { return nil, nil }, stop: func() {}}, nil
	}
	leaves := make(map[int]bool)
	for i := range f.in.MetaData().Schema.NumColumns() {
		leaves[i] = true
	}
	r := &parquetRows{schema: f.schema}
	for i := range f.schema.NumFields() {
		column, err := f.reader.GetFieldReader(context.Background(), i, leaves, indices)
		if err != nil {
			return recordIterator{}, err
		}
		r.columns = append(r.columns, column)
	}
	return recordIterator{next: r.next, stop: r.release}, nil
}

// checkChunks states that the columns of row groups lie in the file.
func (f *parquetFile) checkChunks(indices []int) error {
	for _, i := range indices {
		group := f.in.MetaData().RowGroup(i)
		for c := range f.in.MetaData().Schema.NumColumns() {
			chunk, err := group.ColumnChunk(c)
			if err != nil {
				return err
			}
			start, size := chunk.DataPageOffset(), chunk.TotalCompressedSize()
			if chunk.HasDictionaryPage() {
				start = min(start, chunk.DictionaryPageOffset())
			}
			if start < 0 || size < 0 || size > f.size || start > f.size-size {
				return fmt.Errorf("row group %d: column %d is %d bytes at %d in a file of %d", i, c, size, start, f.size)
			}
		}
	}
	return nil
}

func (f *parquetFile) close() error { return f.in.Close() }

// parquetRows reads row groups in pieces of readRows.
type parquetRows struct {
	schema  *arrow.Schema
	columns []*pqarrow.ColumnReader
	last    arrow.Record
}

// next returns the next piece, which is valid until the one after it.
func (r *parquetRows) next() (arrow.Record, error) {
	r.drop()
	arrays := make([]arrow.Array, len(r.columns))
	defer func() {
		for _, a := range arrays {
			if a != nil {
				a.Release()
			}
		}
	}()
	rows := 0
	for i, column := range r.columns {
		batch, err := column.NextBatch(readRows)
		if err != nil {
			return nil, err
		}
		if i == 0 {
			rows = batch.Len()
		}
		if batch.Len() == rows && len(batch.Chunks()) == 1 {
			arrays[i] = batch.Chunk(0)
			arrays[i].Retain()
		} else if batch.Len() != rows || rows > 0 {
			err = fmt.Errorf("column %q has %d rows in %d pieces, want %d in one", r.schema.Field(i).Name, batch.Len(), len(batch.Chunks()), rows)
		}
		batch.Release()
		if err != nil {
			return nil, err
		}
	}
	if rows == 0 {
		return nil, nil
	}
	r.last = array.NewRecord(r.schema, arrays, int64(rows))
	return r.last, nil
}

func (r *parquetRows) drop() {
	if r.last != nil {
		r.last.Release()
		r.last = nil
	}
}

func (r *parquetRows) release() {
	r.drop()
	for _, c := range r.columns {
		c.Release()
	}
	r.columns = nil
}
