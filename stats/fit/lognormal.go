package fit

import (
	"math"

	"gonum.org/v1/gonum/mathext"
)

// logNormal is the law whose logarithm is normal with mean m and deviation s.
type logNormal struct{ m, s float64 }

// fitLogNormal searches over m and ln s, from the moments of the law.
func fitLogNormal(b binned) estimate {
	return fitLocated(b, newLogNormal, func(mean, variance float64) (u, v float64) {
		s2 := math.Log1p(max(variance, 1e-6) / (mean * mean))
		return math.Log(mean) - s2/2, math.Log(s2) / 2
	})
}

func newLogNormal(u, v float64) shape { return logNormal{u, math.Exp(max(v, -maxShape))} }

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
