package fit

import (
	"math"
	"math/rand/v2"
	"testing"
)

func TestFitLine(t *testing.T) {
	ones := []float64{1, 1, 1, 1}
	for name, x := range map[string]struct {
		x, y, w []float64
		want    Line
	}{
		"no points":     {nil, nil, nil, Line{P: 1}},
		"one point":     {[]float64{1e5 + 1.0/3}, []float64{27200}, []float64{1.0 / 27200 / 27200}, Line{Intercept: 27200, Points: 1, P: 1}},
		"one place":     {[]float64{3, 3}, []float64{1, 2}, ones[:2], Line{Intercept: 1.5, Points: 2, P: 1}},
		"two points":    {[]float64{0, 2}, []float64{1, 5}, ones[:2], Line{Intercept: 1, Slope: 2, Points: 2, P: 1}},
		"a line":        {[]float64{0, 1, 2, 4}, []float64{1, 3, 5, 9}, ones, Line{Intercept: 1, Slope: 2, Points: 4, P: 0}},
		"a falling one": {[]float64{0, 1, 2}, []float64{4, 2, 0}, ones[:3], Line{Intercept: 4, Slope: -2, Points: 3, P: 1}},
		"level":         {[]float64{0, 1, 2, 3}, []float64{5, 5, 5, 5}, ones, Line{Intercept: 5, Points: 4, P: 1}},
		"weights":       {[]float64{0, 1, 0}, []float64{0, 1, 100}, []float64{1, 1, 0}, Line{Intercept: 0, Slope: 1, Points: 3, P: 0}},
		// y = 1, 3, 2, 4 at 0 … 3: slope 0.8, rest 1.8, standard error √(0.9/5): t = 1.8856 at ν = 2.
		"scattered": {[]float64{0, 1, 2, 3}, []float64{1, 3, 2, 4}, ones, Line{Intercept: 1.3, Slope: 0.8, Points: 4, P: 0.1}},
	} {
		got := FitLine(x.x, x.y, x.w)
		near := func(a, b float64) bool { return math.Abs(a-b) < 1e-9*max(1, math.Abs(b)) }
		if !near(got.Intercept, x.want.Intercept) || !near(got.Slope, x.want.Slope) || !near(got.P, x.want.P) || got.Points != x.want.Points {
			t.Errorf("%s: %+v, want %+v", name, got, x.want)
		}
	}
}

// TestFitLineErrorRate: where y does not depend on x, a slope is taken for growth in 5 of 100 cases.
func TestFitLineErrorRate(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	const trials = 4000
	found := 0
	for range trials {
		var x, y, w []float64
		for i := range 6 {
			x, y, w = append(x, float64(int(1)<<i)), append(y, 100+r.NormFloat64()), append(w, 1)
		}
		if FitLine(x, y, w).P <= 0.05 {
			found++
		}
	}
	if share := float64(found) / trials; share < 0.04 || share > 0.06 {
		t.Errorf("growth is seen in %.3f of the cases without any, want 0.05", share)
	}
}
