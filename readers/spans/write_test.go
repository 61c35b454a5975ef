package spans

import (
	"bytes"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/ipc"
	"github.com/apache/arrow/go/v15/arrow/memory"
	"github.com/apache/arrow/go/v15/parquet"
	"github.com/apache/arrow/go/v15/parquet/compress"
	"github.com/apache/arrow/go/v15/parquet/pqarrow"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// A line is a row of the tables below. A micro-batch below 0 is missing in tables that can say so.
type line struct {
	rank, dp, stage, step int64
	name                  string
	start, duration       float64 // s
	seq, batch            int64
}

// job returns the rows of a rank of two: three steps of four operations, whose times count from the begin of the step.
func job(rank int64) (lines []line) {
	for step := range int64(3) {
		at := float64(rank) / 4
		for i, name := range []string{"forward-compute", "forward-send", "backward-compute", "optimizer"} {
			duration := 0.5 + float64(i)/8
			batch := int64(-1)
			if strings.HasSuffix(name, "-compute") {
				batch = 0
			}
			lines = append(lines, line{rank, 0, rank, 10 + 5*step, name, at, duration, 0, batch})
			at += duration
		}
	}
	return lines
}

// csvOf writes rows as CSV.
func csvOf(lines []line) []byte {
	var b bytes.Buffer
	b.WriteString("rank,dp_rank,stage,step,optype,start_ts,duration,seq_id,mb_id,color\n")
	for _, l := range lines {
		batch := fmt.Sprint(l.batch)
		if l.batch < 0 {
			batch = ""
		}
		fmt.Fprintf(&b, "%d,%d,%d,%d,%s,%v,%v,%d,%s,red\n", l.rank, l.dp, l.stage, l.step, l.name, l.start, l.duration, l.seq, batch)
	}
	return b.Bytes()
}

// record makes rows a record of Arrow, with names as a dictionary or not.
func record(lines []line, dictionary bool) arrow.Record {
	texts := arrow.DataType(arrow.BinaryTypes.String)
	if dictionary {
		texts = &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.BinaryTypes.String}
	}
	integer := func(name string, t arrow.DataType) arrow.Field {
		return arrow.Field{Name: name, Type: t, Nullable: true}
	}
	b := array.NewRecordBuilder(memory.DefaultAllocator, arrow.NewSchema([]arrow.Field{integer("rank", arrow.PrimitiveTypes.Int16),
		integer("dp_rank", arrow.PrimitiveTypes.Int8), integer("stage", arrow.PrimitiveTypes.Uint8), integer("step", arrow.PrimitiveTypes.Int64),
		{Name: "optype", Type: texts, Nullable: true}, {Name: "start_ts", Type: arrow.PrimitiveTypes.Float32, Nullable: true},
		{Name: "duration", Type: arrow.PrimitiveTypes.Float64}, integer("seq_id", arrow.PrimitiveTypes.Int32),
		integer("mb_id", arrow.PrimitiveTypes.Int32), {Name: "color", Type: arrow.FixedWidthTypes.Boolean, Nullable: true}}, nil))
	for _, l := range lines {
		b.Field(0).(*array.Int16Builder).Append(int16(l.rank))
		b.Field(1).(*array.Int8Builder).Append(int8(l.dp))
		b.Field(2).(*array.Uint8Builder).Append(uint8(l.stage))
		b.Field(3).(*array.Int64Builder).Append(l.step)
		switch f := b.Field(4).(type) {
		case *array.StringBuilder:
			f.Append(l.name)
		case *array.BinaryDictionaryBuilder:
			if err := f.AppendString(l.name); err != nil {
				panic(err)
			}
		}
		b.Field(5).(*array.Float32Builder).Append(float32(l.start))
		b.Field(6).(*array.Float64Builder).Append(l.duration)
		b.Field(7).(*array.Int32Builder).Append(int32(l.seq))
		if l.batch < 0 {
			b.Field(8).AppendNull()
		} else {
			b.Field(8).(*array.Int32Builder).Append(int32(l.batch))
		}
		b.Field(9).(*array.BooleanBuilder).Append(l.seq == 0)
	}
	return b.NewRecord()
}

// arrowOf writes rows as an Arrow IPC file, or as a stream.
func arrowOf(t testing.TB, lines []line, dictionary, stream bool, o ...ipc.Option) []byte {
	t.Helper()
	r := record(lines, dictionary)
	var b bytes.Buffer
	var err error
	if o = append(o, ipc.WithSchema(r.Schema())); stream {
		w := ipc.NewWriter(&b, o...)
		if err = w.Write(r); err == nil {
			err = w.Close()
		}
	} else {
		var w *ipc.FileWriter
		if w, err = ipc.NewFileWriter(&seekable{Buffer: &b}, o...); err == nil {
			if err = w.Write(r); err == nil {
				err = w.Close()
			}
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// A seekable buffer knows where it is.
type seekable struct{ *bytes.Buffer }

func (s *seekable) Seek(int64, int) (int64, error) { return int64(s.Len()), nil }

// parquetOf writes rows as Parquet.
func parquetOf(t testing.TB, lines []line, groups int64, o ...parquet.WriterProperty) []byte {
	t.Helper()
	r := record(lines, false)
	var b bytes.Buffer
	w, err := pqarrow.NewFileWriter(r.Schema(), &b, parquet.NewWriterProperties(append(o, parquet.WithMaxRowGroupLength(groups))...),
		pqarrow.DefaultWriterProps())
	if err == nil {
		err = w.Write(r)
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// packed compresses a text.
func packed(t testing.TB, text []byte, zst bool) []byte {
	t.Helper()
	var b bytes.Buffer
	if zst {
		z, err := zstd.NewWriter(&b)
		if err != nil {
			t.Fatal(err)
		}
		z.Write(text)
		z.Close()
		return b.Bytes()
	}
	z := gzip.NewWriter(&b)
	z.Write(text)
	z.Close()
	return b.Bytes()
}

// forms are ways to write a table.
func forms(t testing.TB, lines []line) map[string][]byte {
	text := csvOf(lines)
	many := int64(math.MaxInt32)
	return map[string][]byte{
		"csv": text, "csv.gz": packed(t, text, false), "csv.zst": packed(t, text, true),
		"tsv": []byte(strings.ReplaceAll(string(text), ",", "\t")),
		"quoted": []byte(`"` + strings.ReplaceAll(strings.ReplaceAll(strings.TrimSpace(string(text)), ",", `","`), "\n", "\"\r\n\"") +
			"\"\r\n"),
		"arrow":            arrowOf(t, lines, false, false),
		"arrow dictionary": arrowOf(t, lines, true, false),
		"arrow stream":     arrowOf(t, lines, true, true),
		"arrow lz4":        arrowOf(t, lines, false, false, ipc.WithLZ4()),
		"arrow zstd":       arrowOf(t, lines, false, false, ipc.WithZstd()),
		"parquet":          parquetOf(t, lines, many),
		"parquet groups":   parquetOf(t, lines, 5, parquet.WithCompression(compress.Codecs.Snappy)),
		"parquet plain":    parquetOf(t, lines, many, parquet.WithDictionaryDefault(false), parquet.WithCompression(compress.Codecs.Gzip)),
		"parquet small page": parquetOf(t, lines, many, parquet.WithDataPageSize(16), parquet.WithBatchSize(2),
			parquet.WithCompression(compress.Codecs.Zstd)),
		"parquet v2": parquetOf(t, lines, many, parquet.WithDataPageVersion(parquet.DataPageV2),
			parquet.WithCompression(compress.Codecs.Zstd)),
		"parquet v2 plain": parquetOf(t, lines, 7, parquet.WithDataPageVersion(parquet.DataPageV2), parquet.WithDictionaryDefault(false)),
	}
}
