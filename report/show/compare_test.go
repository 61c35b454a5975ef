package show

import (
	"strings"
	"testing"

	"tracekit/document/outcome"
	"tracekit/stats/compare"
)

// TestVerdict: what is said of the whole and of the places does not sound like a contradiction.
// Noise says nothing of runs that differ in shape, and no change is told in thousands of per cent.
func TestVerdict(t *testing.T) {
	yes, no := true, false
	for _, test := range []struct {
		b            float64
		alike        bool
		whole, place *bool
		significant  int
		want         string
	}{
		{110, true, &yes, &yes, 1, "+10.0 %, beyond noise). 1 of 1 time of places changed by more than noise."},
		{110, true, &yes, &no, 0, ", beyond noise). It is spread out: none of 1 time of places changed by more than noise alone."},
		{110, true, &no, &no, 0, ", within noise). None of 1 time of places changed by more than noise."},
		{110, true, &yes, nil, 0, ", beyond noise). No place has iterations enough to judge by."},
		{42_800, true, &yes, nil, 0, "100 ns in A, 42.8 µs in B (×428, beyond noise). No place has iterations enough to judge by."},
		{42_800, false, &no, nil, 0, "(×428). The runs differ in shape: this does not tell which is faster. No place has iterations enough to " +
			"judge by."},
	} {
		change := test.b/100 - 1
		doc := &outcome.Compare{Comparison: &compare.Comparison{Comparable: compare.Comparable{Alike: test.alike},
			Run: &compare.Change{A: 100, B: test.b, Change: &change, Significant: test.whole}, Changes: []compare.Change{{Significant: test.place}},
			Significant: test.significant}}
		if got := verdict(doc); !strings.HasSuffix(got, test.want) {
			t.Errorf("%q, want %q", got, test.want)
		}
	}
}
