package jsontrace

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"testing"

	"tracekit/trace"
	"tracekit/trace/tracetest"
)

// BenchmarkRead compares reading into batches with counting lines and with walking over
// the tokens by encoding/json, on the same text.
func BenchmarkRead(b *testing.B) {
	for _, order := range []string{"sorted", "unsorted"} {
		path := filepath.Join(b.TempDir(), order+".json")
		w, err := os.Create(path)
		if err != nil {
			b.Fatal(err)
		}
		n, err := generator{200 << 20, order == "sorted"}.WriteTo(w)
		if err != nil {
			b.Fatal(err)
		}
		w.Close()
		b.Run("format=json/order="+order, func(b *testing.B) {
			measure(b, n, func() { readAll(b, path) })
		})
		if order == "unsorted" {
			continue
		}
		b.Run("format=lines", func(b *testing.B) {
			measure(b, n, func() { lines(b, path) })
		})
		b.Run("format=encodingjson", func(b *testing.B) {
			measure(b, n/10, func() { tokens(b, path, n/10) })
		})
	}
}

// measure reports the rate by the clock and, in MB/cpu-s, by the time that the process
// was given, which is the one to compare where other programs run.
func measure(b *testing.B, bytes int64, work func()) {
	b.SetBytes(bytes)
	before := tracetest.ProcessorTime(b)
	for b.Loop() {
		work()
	}
	used := tracetest.ProcessorTime(b) - before
	b.ReportMetric(float64(b.N)*float64(bytes)/1e6/used.Seconds(), "MB/cpu-s")
}

func readAll(tb testing.TB, path string) int {
	s, err := Open(context.Background(), []string{path}, Options{})
	if err != nil {
		tb.Fatal(err)
	}
	defer s.Close()
	n := 0
	for l := range s.Defs().Locations {
		for batch := range tracetest.Batches(tb, s, trace.LocationID(l)) {
			n += batch.Len()
		}
	}
	return n
}

func lines(tb testing.TB, path string) {
	f, err := os.Open(path)
	if err != nil {
		tb.Fatal(err)
	}
	defer f.Close()
	buf := make([]byte, 1<<20)
	n := 0
	for {
		k, err := f.Read(buf)
		n += bytes.Count(buf[:k], []byte("\n"))
		if err != nil {
			return
		}
	}
}

func tokens(tb testing.TB, path string, limit int64) {
	f, err := os.Open(path)
	if err != nil {
		tb.Fatal(err)
	}
	defer f.Close()
	d := json.NewDecoder(bufio.NewReader(io.LimitReader(f, limit)))
	for {
		if _, err := d.Token(); err != nil {
			return
		}
	}
}
