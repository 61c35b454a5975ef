package formulae_test

import (
	"bytes"
	"context"
	"path/filepath"
	"testing"

	"tracekit/formulae"
	"tracekit/trace"
)

// inMemory returns a real trace with its events in memory, and their number.
func inMemory(b *testing.B, name string) (*trace.MemorySource, int) {
	src := openTrace(b, filepath.Join(shared(b), name))
	m := &trace.MemorySource{About: src.Info(), Definitions: src.Defs()}
	n := 0
	for l := range src.Defs().Locations {
		all := events(b, src, trace.LocationID(l))
		n += all.Len()
		m.Batches = append(m.Batches, []*trace.Batch{all})
	}
	return m, n
}

func BenchmarkCompress(b *testing.B) {
	for _, name := range []string{"npb-cg-W-8-run1", "npb-bt-S-16", "lulesh-8x2"} {
		for _, mode := range []formulae.Mode{formulae.Lossless, formulae.Statistics} {
			b.Run("trace="+name+"/mode="+mode.String(), func(b *testing.B) {
				src, n := inMemory(b, name)
				var out bytes.Buffer
				for b.Loop() {
					out.Reset()
					if _, err := formulae.Compress(context.Background(), src, &out, formulae.Options{Mode: mode, Jobs: 1}); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(n)*float64(b.N)/b.Elapsed().Seconds(), "events/s")
				b.ReportMetric(float64(out.Len())/float64(n), "B/event")
			})
		}
	}
}

func BenchmarkDecompress(b *testing.B) {
	for _, name := range []string{"npb-cg-W-8-run1", "npb-bt-S-16", "lulesh-8x2"} {
		b.Run("trace="+name, func(b *testing.B) {
			src, n := inMemory(b, name)
			file, _ := compress(b, src, formulae.Options{})
			tkf := openTKF(b, file)
			for b.Loop() {
				for l := range tkf.Defs().Locations {
					for _, err := range tkf.Events(context.Background(), trace.LocationID(l)) {
						if err != nil {
							b.Fatal(err)
						}
					}
				}
			}
			b.ReportMetric(float64(n)*float64(b.N)/b.Elapsed().Seconds(), "events/s")
		})
	}
}
