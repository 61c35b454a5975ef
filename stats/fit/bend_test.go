package fit

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestFitBend: two lines are found where they are planted, with their laws; five points are refused, a single line has no bend.
func TestFitBend(t *testing.T) {
	var x, y, w []float64
	for k := range 12 {
		b := float64(int(8) << k)
		time := 1000 + b/4
		if k >= 7 { // rendezvous: a handshake first, then twice as fast
			time = 5000 + b/8
		}
		x, y, w = append(x, b), append(y, time), append(w, 1/time/time)
	}
	b, ok := FitBend(x, y, w)
	near := func(a, b float64) bool { return math.Abs(a-b) < 1e-6*max(1, b) }
	if !ok || b.At != 7 || b.P > 1e-6 || !near(b.Low.Intercept, 1000) || !near(b.Low.Slope, 0.25) || !near(b.High.Intercept, 5000) ||
		!near(b.High.Slope, 0.125) {
		t.Errorf("%+v, %v", b, ok)
	}
	if _, ok := FitBend(x[:5], y[:5], w[:5]); ok {
		t.Error("five points have a bend")
	}
	if b, ok := FitBend(x[:7], y[:7], w[:7]); !ok || b.P < 0.05 {
		t.Errorf("one line: %+v, %v", b, ok)
	}
}

// TestFitBendErrorRate: where there is none, a bend is seen in no more than 5 of 100 cases.
func TestFitBendErrorRate(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	const trials = 2000
	found := 0
	for range trials {
		var x, y, w []float64
		for i := range 10 {
			x, y, w = append(x, float64(int(1)<<i)), append(y, 100+float64(int(1)<<i)+r.NormFloat64()), append(w, 1)
		}
		if b, _ := FitBend(x, y, w); b.P <= 0.05 {
			found++
		}
	}
	if share := float64(found) / trials; share > 0.06 {
		t.Errorf("a bend is seen in %.3f of the cases without any, want at most 0.05", share)
	}
}
