package fit

import (
	"math"
	"slices"
	"testing"
)

// The fifteen p-values are those of the example in Benjamini and Hochberg's paper
// (1995, section 4): at 5 % their procedure rejects the first four.
func TestAnomalousAgainstThePaper(t *testing.T) {
	p := []float64{0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344, 0.0459,
		0.3240, 0.4262, 0.5719, 0.6528, 0.7590, 1.0000}
	slices.Reverse(p)
	got := Anomalous(p, 0.05)
	for j := range got {
		if want := p[j] <= 0.0095; got[j] != want {
			t.Errorf("p = %g: %v, want %v", p[j], got[j], want)
		}
	}
}

func TestAnomalousEdges(t *testing.T) {
	tests := []struct {
		p    []float64
		want []bool
	}{
		{nil, []bool{}},
		{[]float64{1}, []bool{false}},
		{[]float64{0.05}, []bool{true}},
		{[]float64{0.04, 0.04}, []bool{true, true}}, // the second one lifts the first
		{[]float64{0.04, 0.9}, []bool{false, false}},
		{[]float64{0, 0, 1}, []bool{true, true, false}},
	}
	for _, tt := range tests {
		if got := Anomalous(tt.p, 0.05); !slices.Equal(got, tt.want) {
			t.Errorf("%v: %v, want %v", tt.p, got, tt.want)
		}
	}
}

func TestBinomialTailEdges(t *testing.T) {
	tests := []struct {
		k, n int64
		p    float64
		want float64
	}{
		{0, 10, 0.5, 1}, {-1, 10, 0.5, 1}, {11, 10, 0.5, 0}, {10, 10, 0.5, math.Pow(0.5, 10)},
		{1, 10, 0.5, 1 - math.Pow(0.5, 10)}, {1, 10, 0, 0}, {0, 10, 0, 1}, {10, 10, 1, 1}, {11, 10, 1, 0}, {0, 0, 0.5, 1},
	}
	for _, tt := range tests {
		if got := binomialTail(tt.k, tt.n, tt.p); math.Abs(got-tt.want) > 1e-15 {
			t.Errorf("P(X ≥ %d) of %d at %g = %g, want %g", tt.k, tt.n, tt.p, got, tt.want)
		}
	}
}

// Without uncertainty the average over rates is the binomial tail itself; with it the
// p-value of a large count grows.
func TestUncertainTail(t *testing.T) {
	sure, unsure := uncertainTail(45, 3000, 0.01, 0), uncertainTail(45, 3000, 0.01, 0.3)
	near(t, "sure", sure, binomialTail(45, 3000, 0.01))
	if unsure <= 2*sure || unsure >= 0.5 {
		t.Errorf("unsure %g, sure %g", unsure, sure)
	}
}

func TestOverhead(t *testing.T) {
	if Overhead(10, 20) != 0 || Overhead(20, 20) != 0 || Overhead(25, 20) != 5 {
		t.Error("overhead is not max(0, t - t_max)")
	}
}
