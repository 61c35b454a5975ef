package tkf_test

import (
	"fmt"
	"testing"

	"tracekit/formulae/tkf"
	"tracekit/samples"
	"tracekit/spill"
	"tracekit/trace"
	"tracekit/trace/tracetest"
)

// heldWriter notes how much memory is held when the file is begun: then all locations are coded, and none
// is written.
type heldWriter struct{ before, held int64 }

func (w *heldWriter) Write(p []byte) (int, error) {
	if w.held == 0 {
		w.held = tracetest.LiveBytes() - w.before
	}
	return len(p), nil
}

// compressRanks compresses a trace with its tables in a file, and returns the bytes that are held beside.
func compressRanks(tb testing.TB, src trace.Source, mode tkf.Mode) int64 {
	store := spill.NewStore(0, tb.TempDir())
	defer store.Close()
	w := &heldWriter{before: tracetest.LiveBytes()}
	if _, err := tkf.Compress(tb.Context(), src, w, tkf.Options{Mode: mode, Learn: true, Jobs: 1, Store: store}); err != nil {
		tb.Fatal(err)
	}
	return w.held
}

func haloOf(ranks int) samples.Options {
	return samples.Options{Program: "halo", Ranks: ranks, Iterations: 2, Seed: 1}
}

// TestHeldOfRanks: of a rank that is coded little is held beside what the store keeps.
func TestHeldOfRanks(t *testing.T) {
	const few, many = 64, 576
	for mode, most := range map[tkf.Mode]int64{tkf.Lossless: 4000, tkf.Statistics: 12000} {
		held := compressRanks(t, generate(t, haloOf(many)), mode) - compressRanks(t, generate(t, haloOf(few)), mode)
		t.Logf("mode %d: %d bytes for each rank", mode, held/(many-few))
		if held > most*(many-few) {
			t.Errorf("mode %d: %d bytes are held for each rank, want at most %d", mode, held/(many-few), most)
		}
	}
}

// BenchmarkRanks: the cost of a rank does not depend on how many there are.
func BenchmarkRanks(b *testing.B) {
	for mode, name := range []string{tkf.Lossless: "lossless", tkf.Statistics: "stat"} {
		for _, ranks := range []int{1 << 8, 1 << 10, 1 << 12, 1 << 14} {
			b.Run(fmt.Sprintf("mode=%s/ranks=%d", name, ranks), func(b *testing.B) {
				src, held := generate(b, haloOf(ranks)), int64(0)
				begin := tracetest.ProcessorTime(b)
				for b.Loop() {
					held = compressRanks(b, src, tkf.Mode(mode))
				}
				b.ReportMetric(float64((tracetest.ProcessorTime(b)-begin).Nanoseconds())/float64(ranks)/float64(b.N), "ns/rank")
				b.ReportMetric(float64(held)/float64(ranks), "held-B/rank")
			})
		}
	}
}
