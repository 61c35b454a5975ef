package fit

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"
)

// A Line is y = Intercept + Slope·x, fitted by weighted least squares.
type Line struct {
	Intercept, Slope float64
	Points           int
	P                float64 // probability of a slope like this or steeper where y does not depend on x; 1 for fewer than three points
}

// FitLine fits a line to points with positive weights; x, y and weight are of equal length. If
// all x are the same, the line is level, at the mean.
func FitLine(x, y, weight []float64) Line {
	l := Line{Points: len(x), P: 1}
	var sum, mx, my float64
	for i, w := range weight {
		sum, mx, my = sum+w, mx+w*x[i], my+w*y[i]
	}
	if sum == 0 {
		return l
	}
	mx, my = mx/sum, my/sum
	var sxx, sxy float64
	for i, w := range weight {
		sxx, sxy = sxx+w*(x[i]-mx)*(x[i]-mx), sxy+w*(x[i]-mx)*(y[i]-my)
	}
	spread := len(x) > 0 && slices.Min(x) < slices.Max(x) // sxx is seldom 0, even if it should be
	if spread && sxx > 0 {
		l.Slope = sxy / sxx
	}
	l.Intercept = my - l.Slope*mx
	freedom := float64(len(x) - 2)
	if freedom < 1 || l.Slope == 0 {
		return l
	}
	var rest float64
	for i, w := range weight {
		d := y[i] - l.At(x[i])
		rest += w * d * d
	}
	if rest == 0 {
		if l.Slope > 0 {
			l.P = 0
		}
		return l
	}
	l.P = distuv.StudentsT{Mu: 0, Sigma: 1, Nu: freedom}.Survival(l.Slope / math.Sqrt(rest/freedom/sxx))
	return l
}

// At returns y at x.
func (l Line) At(x float64) float64 { return l.Intercept + l.Slope*x }
