package fit

import (
	"math"

	"gonum.org/v1/gonum/stat/distuv"
)

// A Bend is two lines through points in ascending order of x: one through those before At, one through the rest.
type Bend struct {
	Low, High Line
	At        int     // the first point of High
	P         float64 // probability of an improvement over a single line like this or better where there is no bend
}

// LeastBent is the number of points that a bend needs: three for each line, since two lie on any line.
const LeastBent = 6

// FitBend fits two lines with the least sum of weighted squares to points of ascending x with positive weights; ok is false for fewer
// than LeastBent points. P is that of the F-test of two further parameters, times the number of places that were tried (Bonferroni).
func FitBend(x, y, weight []float64) (b Bend, ok bool) {
	n := len(x)
	if n < LeastBent {
		return b, false
	}
	const half = LeastBent / 2
	best := math.Inf(1)
	for at := half; at <= n-half; at++ {
		low, high := FitLine(x[:at], y[:at], weight[:at]), FitLine(x[at:], y[at:], weight[at:])
		if rest := low.rest(x[:at], y[:at], weight[:at]) + high.rest(x[at:], y[at:], weight[at:]); rest < best {
			best, b = rest, Bend{Low: low, High: high, At: at}
		}
	}
	whole := FitLine(x, y, weight).rest(x, y, weight)
	freedom := float64(n - 4)
	rounding := 1e-18 * Line{}.rest(x, y, weight)
	switch gain := whole - best; {
	case whole <= rounding || gain <= 0: // the single line has all points
		b.P = 1
	case best > rounding:
		b.P = min(1, float64(n-LeastBent+1)*distuv.F{D1: 2, D2: freedom}.Survival(gain/2/(best/freedom)))
	}
	return b, true
}

// rest returns the sum of weighted squares that a line leaves.
func (l Line) rest(x, y, weight []float64) (sum float64) {
	for i, w := range weight {
		d := y[i] - l.At(x[i])
		sum += w * d * d
	}
	return sum
}
