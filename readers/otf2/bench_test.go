package otf2

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"

	"tracekit/trace"
	"tracekit/trace/tracetest"
)

// BenchmarkRead decodes all events of an archive to column tables, by one goroutine and by
// two that share the locations. TRACEKIT_BENCH names an archive to be read instead of the
// real ones. Compare events/cpu-s on a machine that does other things as well;
// scripts/bench.sh compares with the reference library.
func BenchmarkRead(b *testing.B) {
	var paths []string
	if path := os.Getenv("TRACEKIT_BENCH"); path != "" {
		paths = []string{path}
	} else {
		paths = realArchives(b)
	}
	for _, path := range paths {
		for _, jobs := range []int{1, 2} {
			b.Run(fmt.Sprintf("archive=%s/jobs=%d", filepath.Base(path), jobs), func(b *testing.B) {
				s, err := Open(context.Background(), path, 0)
				if err != nil {
					b.Fatal(err)
				}
				defer s.Close()
				b.ReportAllocs()
				events, start := 0, tracetest.ProcessorTime(b)
				for b.Loop() {
					events += readAll(b, s, jobs)
				}
				b.ReportMetric(float64(events)/b.Elapsed().Seconds(), "events/s")
				b.ReportMetric(float64(events)/(tracetest.ProcessorTime(b)-start).Seconds(), "events/cpu-s")
			})
		}
	}
}

// readAll reads all locations and returns the number of events.
func readAll(b *testing.B, s *Source, jobs int) int {
	var next, events atomic.Int64
	var wait sync.WaitGroup
	for range jobs {
		wait.Go(func() {
			n := 0
			for {
				l := next.Add(1) - 1
				if l >= int64(len(s.Defs().Locations)) {
					break
				}
				for batch, err := range s.Events(context.Background(), trace.LocationID(l)) {
					if err != nil {
						b.Error(err)
						return
					}
					n += batch.Len()
				}
			}
			events.Add(int64(n))
		})
	}
	wait.Wait()
	return int(events.Load())
}

// BenchmarkWrite reads and writes a real archive.
func BenchmarkWrite(b *testing.B) {
	paths := realArchives(b)
	s, err := Open(context.Background(), paths[0], 0)
	if err != nil {
		b.Fatal(err)
	}
	dir, events, i, start := b.TempDir(), 0, 0, tracetest.ProcessorTime(b)
	for b.Loop() {
		w, err := Create(filepath.Join(dir, fmt.Sprint(i)), s.Info(), s.Defs(), Options{})
		if err != nil {
			b.Fatal(err)
		}
		for l := range s.Defs().Locations {
			for batch, err := range s.Events(context.Background(), trace.LocationID(l)) {
				if err != nil {
					b.Fatal(err)
				}
				if err := w.Write(batch); err != nil {
					b.Fatal(err)
				}
				events += batch.Len()
			}
		}
		if err := w.Close(); err != nil {
			b.Fatal(err)
		}
		i++
	}
	b.ReportMetric(float64(events)/b.Elapsed().Seconds(), "events/s")
	b.ReportMetric(float64(events)/(tracetest.ProcessorTime(b)-start).Seconds(), "events/cpu-s")
}
