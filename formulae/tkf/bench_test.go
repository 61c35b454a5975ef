package tkf_test

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"testing"

	"tracekit/engine"
	"tracekit/formulae"
	"tracekit/formulae/tkf"
	"tracekit/readers"
	"tracekit/samples"
	"tracekit/trace"
	"tracekit/trace/tracetest"
)

// inMemory returns a real trace with its events in memory, and their number.
func inMemory(b *testing.B, path string) (*trace.MemorySource, int) {
	src := openTrace(b, path)
	m := &trace.MemorySource{About: src.Info(), Definitions: src.Defs()}
	n := 0
	for l := range src.Defs().Locations {
		all := events(b, src, trace.LocationID(l))
		n += all.Len()
		m.Batches = append(m.Batches, []*trace.Batch{all})
	}
	return m, n
}

// perCore runs f again and again and reports how many of n events one core does in a second.
func perCore(b *testing.B, n int, f func()) {
	begin := tracetest.ProcessorTime(b)
	for b.Loop() {
		f()
	}
	b.ReportMetric(float64(n)*float64(b.N)/(tracetest.ProcessorTime(b)-begin).Seconds(), "events/core-s")
}

func BenchmarkCompress(b *testing.B) {
	for _, path := range archives(b, tracetest.Shared(b, "otf2")) {
		name := filepath.Base(filepath.Dir(path))
		for mode, in := range []string{tkf.Lossless: "lossless", tkf.Statistics: "stat"} {
			b.Run("trace="+name+"/mode="+in, func(b *testing.B) {
				src, n := inMemory(b, path)
				var out bytes.Buffer
				perCore(b, n, func() {
					out.Reset()
					if _, err := tkf.Compress(context.Background(), src, &out, tkf.Options{Mode: tkf.Mode(mode), Jobs: 1}); err != nil {
						b.Fatal(err)
					}
				})
				b.ReportMetric(float64(out.Len())/float64(n), "B/event")
			})
		}
	}
}

func BenchmarkDecompress(b *testing.B) {
	for _, path := range archives(b, tracetest.Shared(b, "otf2")) {
		name := filepath.Base(filepath.Dir(path))
		b.Run("trace="+name, func(b *testing.B) {
			src, n := inMemory(b, path)
			file, _ := compress(b, src, tkf.Options{})
			perCore(b, n, func() {
				tkf, err := tkf.Open(file, 0, nil)
				if err != nil {
					b.Fatal(err)
				}
				defer tkf.Close()
				for l := range tkf.Defs().Locations {
					for range tracetest.Batches(b, tkf, trace.LocationID(l)) {
					}
				}
			})
		})
	}
}

// BenchmarkRecording measures what recording an event costs: into formulae, visits and
// durations (18 terms), or as a record of an OTF2 archive. It is the study in docs/internals/FORMULAE.md.
func BenchmarkRecording(b *testing.B) {
	traces := make(map[string]*trace.MemorySource)
	for _, iterations := range []int{20, 200, 2000} {
		traces[fmt.Sprintf("halo-16x%d", iterations)] = generate(b,
			samples.Options{Program: "halo", Ranks: 16, Iterations: iterations, Seed: 1}).(*trace.MemorySource)
	}
	for _, path := range archives(b, tracetest.Shared(b, "otf2")) {
		if src, n := inMemory(b, path); n > 40_000 { // of short runs the archive's files would be measured
			traces[filepath.Base(filepath.Dir(path))] = src
		}
	}
	for _, name := range slices.Sorted(maps.Keys(traces)) {
		src, n := traces[name], 0
		for _, list := range traces[name].Batches {
			for _, batch := range list {
				n += batch.Len()
			}
		}
		b.Run("trace="+name+"/into=formulae", func(b *testing.B) {
			perEvent(b, n, func() {
				if _, err := formulae.LearnedByMemory(context.Background(), src, []int{18}, false, engine.Options{Jobs: 1}); err != nil {
					b.Fatal(err)
				}
			})
		})
		b.Run("trace="+name+"/into=otf2", func(b *testing.B) {
			dir := b.TempDir()
			perEvent(b, n, func() {
				w, err := readers.Create(dir, src.Info(), src.Defs(), readers.CreateOptions{Format: "otf2", Force: true, Jobs: 1})
				if err != nil {
					b.Fatal(err)
				}
				for _, list := range src.Batches {
					for _, batch := range list {
						if err := w.Write(batch); err != nil {
							b.Fatal(err)
						}
					}
				}
				if err := w.Close(); err != nil {
					b.Fatal(err)
				}
			})
		})
	}
}

// perEvent runs f again and again and reports the processor time for each of n events.
func perEvent(b *testing.B, n int, f func()) {
	begin := tracetest.ProcessorTime(b)
	for b.Loop() {
		f()
	}
	b.ReportMetric(float64((tracetest.ProcessorTime(b)-begin).Nanoseconds())/float64(n)/float64(b.N), "ns/event")
}
