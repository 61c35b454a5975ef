package fit

import (
	"math"

	"gonum.org/v1/gonum/mathext"
)

// logNormal is the law whose logarithm is normal with mean m and deviation s.
type logNormal struct{ m, s float64 }

// fitLogNormal takes the median for the size and s times the median for the spread.
func fitLogNormal(b binned) estimate {
	return fitLocated(b, newLogNormal, func(mean, sigma float64) (size, spread float64) {
		s2 := math.Log1p(sigma * sigma / (mean * mean))
		size = mean * math.Exp(-s2/2)
		return size, math.Sqrt(s2) * size
	})
}

func newLogNormal(size, spread float64) shape { return logNormal{math.Log(size), spread / size} }

func (l logNormal) below(x float64) (lower, upper float64) {
	z := (math.Log(x) - l.m) / l.s / math.Sqrt2
	return math.Erfc(-z) / 2, math.Erfc(z) / 2
}

func (l logNormal) inverse(q float64) float64 {
	return math.Exp(min(l.m+l.s*mathext.NormalQuantile(q), 700))
}

func (l logNormal) named(window float64) []Param {
	return []Param{{"mu_ln_ns", l.m + math.Log(window)}, {"sigma", l.s}}
}
