package merge_test

import (
	"context"
	"fmt"
	"os"
	"testing"

	"tracekit/merge"
	"tracekit/readers"
	"tracekit/samples"
	"tracekit/spill"
	"tracekit/trace"
)

// BenchmarkMerge merges the archive that TRACEKIT_BENCH_ARCHIVE names, a large one being
// of most interest, or else a small generated trace; memory is in MiB.
func BenchmarkMerge(b *testing.B) {
	var src trace.Source
	if path := os.Getenv("TRACEKIT_BENCH_ARCHIVE"); path != "" {
		s, err := readers.Open(context.Background(), path, readers.OpenOptions{})
		if err != nil {
			b.Fatal(err)
		}
		defer s.Close()
		src = s
	} else {
		src, _ = generate(b, samples.Options{Program: "halo", Ranks: 16, Iterations: 500, Seed: 1})
	}
	for _, memory := range []int64{192, 4096} {
		for _, jobs := range []int{1, 2} {
			b.Run(fmt.Sprintf("memory=%d/jobs=%d", memory, jobs), func(b *testing.B) {
				benchmarkMerge(b, src, memory<<20, jobs)
			})
		}
	}
}

func benchmarkMerge(b *testing.B, src trace.Source, memory int64, jobs int) {
	var events uint64
	for b.Loop() {
		t, err := merge.Merge(b.Context(), src, merge.Options{Jobs: jobs, Store: spill.NewStore(memory, "")})
		if err != nil {
			b.Fatal(err)
		}
		events += t.Coverage.EventsRead
		t.Store.Close()
	}
	b.ReportMetric(float64(events)/b.Elapsed().Seconds()/1e6, "Mevents/s")
}
