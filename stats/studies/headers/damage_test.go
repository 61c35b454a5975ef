package headers_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"tracekit/merge"
	"tracekit/samples"
	"tracekit/stats/analysis"
	"tracekit/stats/studies/headers"
	"tracekit/trace/tracetest"
)

// TestDamagedTraces: where events are missing, peers wrong and clocks off, times still add up.
func TestDamagedTraces(t *testing.T) {
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 1))
		m, _ := samples.Random(seed)
		src := tracetest.Damaged(&m.MemorySource, r, false)
		for _, clock := range []merge.ClockMode{merge.ClockNone, merge.ClockCLC} {
			tr, a, p := made(t, src, merge.Options{Clock: clock}, analysis.Options{}, headers.Options{Exact: true})
			if balanced(t, fmt.Sprint("seed ", seed, " clock ", clock), tr, a, p, true); t.Failed() {
				return
			}
		}
	}
}
