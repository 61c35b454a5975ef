package arrowdir

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"tracekit/trace"
	"tracekit/trace/tracetest"
)

// ranksOf is a source of so many locations of a few events each.
func ranksOf(t testing.TB, ranks int) *trace.MemorySource {
	src := tracetest.MustParse(t, "region 0 main\nregion 1 MPI_Send\nprocess 0 p\n")
	b := new(trace.Batch)
	for l := range ranks {
		src.Definitions.Locations = append(src.Definitions.Locations, trace.Location{Ref: uint64(l)})
		src.Batches = append(src.Batches, []*trace.Batch{b})
	}
	b.Reset(0, 0)
	for i := range int64(20) {
		b.AddFlow(100*i, trace.KindEnter, 0)
		b.AddP2P(trace.P2PRow{Time: 100*i + 1, Kind: trace.KindMpiSend, Bytes: 8})
		b.AddFlow(100*i+50, trace.KindLeave, 0)
	}
	return src
}

// rankCounts are how many locations a directory is written and read with.
var rankCounts = []int{64, 512, 4096, 16384}

// writeRanks writes ranksOf: one batch stands for all.
func writeRanks(t testing.TB, src *trace.MemorySource, dir string, f Format) {
	w, err := Create(dir, src.Info(), src.Defs(), Options{Format: f, Jobs: 1})
	if err != nil {
		t.Fatal(err)
	}
	for l, batches := range src.Batches {
		batches[0].Location = trace.LocationID(l)
		if err := w.Write(batches[0]); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
}

// BenchmarkWriteRanks and BenchmarkReadRanks: the cost of a rank does not depend on how many
// there are.
func BenchmarkWriteRanks(b *testing.B) {
	eachRanks(b, func(b *testing.B, f Format, ranks int) {
		src, dir := ranksOf(b, ranks), filepath.Join(b.TempDir(), "x")
		for b.Loop() {
			if err := os.RemoveAll(dir); err != nil {
				b.Fatal(err)
			}
			writeRanks(b, src, dir, f)
		}
	})
}

func BenchmarkReadRanks(b *testing.B) {
	eachRanks(b, func(b *testing.B, f Format, ranks int) {
		dir := filepath.Join(b.TempDir(), "x")
		writeRanks(b, ranksOf(b, ranks), dir, f)
		for b.Loop() {
			src, err := Open(b.Context(), dir)
			if err != nil {
				b.Fatal(err)
			}
			for l := range ranks {
				for batch, err := range src.Events(b.Context(), trace.LocationID(l)) {
					if err != nil || batch.Len() != 60 {
						b.Fatal(batch.Len(), err)
					}
				}
			}
			if n := src.Findings(); len(n) > 0 {
				b.Fatal(n)
			}
			src.Close()
		}
	})
}

func eachRanks(b *testing.B, run func(b *testing.B, f Format, ranks int)) {
	for _, f := range []Format{Arrow, Parquet} {
		for _, ranks := range rankCounts {
			b.Run(fmt.Sprintf("format=%s/ranks=%d", f, ranks), func(b *testing.B) {
				run(b, f, ranks)
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(ranks), "ns/rank")
			})
		}
	}
}
