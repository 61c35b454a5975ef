package analysis_test

import (
	"math"
	"strings"
	"testing"

	"tracekit/merge"
	"tracekit/stats/analysis"
	"tracekit/trace"
	"tracekit/trace/tracetest"
)

// TestCounterOverflow has increments whose sum does not fit into 64 bits, an increment that was
// negative once, and readings of a clock, whose mean fits although their sum does not. Nothing
// wraps around; what counts up beyond 64 bits is a finding.
func TestCounterOverflow(t *testing.T) {
	const text = `
member 0 misses mode=34 value=7
member 1 cycles mode=34 value=7
member 2 clock mode=17 value=8
metric 0 members=0
metric 1 members=1
metric 2 members=2
location 0 l rank=0
  0 Enter main
    1 Metric 0 uint64:9000000000000000000 ; 2 Metric 0 uint64:9000000000000000000
    3 Metric 0 uint64:9000000000000000000 ; 4 Metric 1 uint64:18446744073709551611
    5 Metric 2 int64:9000000000000000000 ; 6 Metric 2 int64:9000000000000000002
  9 Leave main
`
	_, a := analyzed(t, tracetest.MustParse(t, text), merge.ClockNone, analysis.Options{})
	for i, want := range []float64{27e18, 18446744073709551611, 9000000000000000001} {
		c := a.Profile[0].Counters[i]
		got := c.Sum
		if c.Name == "clock" {
			got = c.Mean
		}
		if got == nil || math.Abs(*got-want) > 1e-9*want {
			t.Errorf("%s: %v, want %v", c.Name, got, want)
		}
	}
	for _, f := range a.Findings {
		if f.Code == string(trace.CodeCounterOverflow) && f.Count == 2 && strings.HasSuffix(f.Text, "misses in main sums up to 2.7e+19") {
			return
		}
	}
	t.Errorf("findings are %+v", a.Findings)
}
