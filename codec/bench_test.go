package codec_test

import (
	"bytes"
	"testing"

	"tracekit/codec"
	"tracekit/spill"
)

// BenchmarkTable measures writing and reading rows like those of calls: times ascend, some columns
// hardly change, some not at all.
func BenchmarkTable(b *testing.B) {
	const rows = 1 << 18
	store := spill.NewStore(1<<30, "")
	defer store.Close()
	table := spill.NewTable[row](store)
	for i := range rows {
		table.Append(row{uint8(i % 3), int64(i)*1000 + int64(i*i%997), uint32(i / 2), 1 << 20, false})
	}
	var coded bytes.Buffer
	write := func() {
		coded.Reset()
		c := codec.NewWriter(&coded, "bench")
		codec.Table(c, nil, &table, columns()...)
		if err := c.Close(); err != nil {
			b.Fatal(err)
		}
	}
	write()
	each := func(b *testing.B) {
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/rows/float64(len(columns())), "ns/value")
		b.ReportMetric(float64(coded.Len())/rows, "bytes/row")
	}
	b.Run("write", func(b *testing.B) {
		for b.Loop() {
			write()
		}
		each(b)
	})
	b.Run("read", func(b *testing.B) {
		for b.Loop() {
			c := codec.NewReader(bytes.NewReader(coded.Bytes()), "bench")
			var got *spill.Table[row]
			codec.Table(c, store, &got, columns()...)
			if err := c.Close(); err != nil || got.Len() != rows {
				b.Fatal(err)
			}
			got.Release()
		}
		each(b)
	})
}
