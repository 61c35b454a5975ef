package arrowdir

import (
	"context"
	"errors"
	"io"
	"os"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/memory"
	"github.com/apache/arrow/go/v15/parquet"
	"github.com/apache/arrow/go/v15/parquet/compress"
	"github.com/apache/arrow/go/v15/parquet/file"
	"github.com/apache/arrow/go/v15/parquet/pqarrow"
)

// parquetWriter writes a Parquet file, one row group for consecutive batches of a
// location.
type parquetWriter struct {
	file *os.File
	out  *pqarrow.FileWriter
	open bool  // a row group is
	rows int64 // in it
}

// Columns that ascend, or nearly so: differences are small where values repeat seldom.
var ascending = []string{"seq", "time", "request"}

func newParquetWriter(name string, schema *arrow.Schema) (*parquetWriter, error) {
	f, err := os.Create(name)
	if err != nil {
		return nil, err
	}
	properties := []parquet.WriterProperty{parquet.WithCompression(compress.Codecs.Zstd)}
	for _, column := range ascending {
		if schema.HasField(column) {
			properties = append(properties, parquet.WithDictionaryFor(column, false),
				parquet.WithEncodingFor(column, parquet.Encodings.DeltaBinaryPacked))
		}
	}
	out, err := pqarrow.NewFileWriter(schema, f, parquet.NewWriterProperties(properties...),
		pqarrow.NewArrowWriterProperties(pqarrow.WithStoreSchema()))
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return &parquetWriter{file: f, out: out}, nil
}

func (w *parquetWriter) write(r arrow.Record, begin bool) (bool, error) {
	begun := !w.open || begin || w.rows+r.NumRows() > MaxGroupRows
	if begun {
		w.out.NewBufferedRowGroup()
		w.open, w.rows = true, 0
	}
	w.rows += r.NumRows()
	return begun, w.out.WriteBuffered(r)
}

// close also closes the file: the library's writer does that.
func (w *parquetWriter) close() error { return w.out.Close() }

// parquetFile reads a Parquet file.
type parquetFile struct {
	in     *file.Reader
	reader *pqarrow.FileReader
}

// readRows is the number of rows that are read at a time.
const readRows = 1 << 15

func openParquet(name string) (*parquetFile, error) {
	in, err := file.OpenParquetFile(name, false)
	if err != nil {
		return nil, err
	}
	reader, err := pqarrow.NewFileReader(in, pqarrow.ArrowReadProperties{BatchSize: readRows}, memory.NewGoAllocator())
	if err != nil {
		return nil, errors.Join(err, in.Close())
	}
	return &parquetFile{in, reader}, nil
}

func (f *parquetFile) groups() int { return f.in.NumRowGroups() }

// records iterates over some of the row groups.
func (f *parquetFile) records(indices []int) (recordIterator, error) {
	if len(indices) == 0 {
		return recordIterator{next: func() (arrow.Record, error) { return nil, nil }, stop: func() {}}, nil
	}
	rows, err := f.reader.GetRecordReader(context.Background(), nil, indices)
	if err != nil {
		return recordIterator{}, err
	}
	return recordIterator{
		next: func() (arrow.Record, error) {
			r, err := rows.Read()
			if errors.Is(err, io.EOF) {
				return nil, nil
			}
			return r, err
		},
		stop: rows.Release,
	}, nil
}

func (f *parquetFile) close() error { return f.in.Close() }
