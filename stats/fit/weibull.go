package fit

import "math"

// weibull is the law with P(X ≥ x) = e^(-(x/b)^a).
type weibull struct{ a, b float64 }

// fitWeibull takes b for the size and b/a for the spread. The first guess of the
// shape is the usual power of the coefficient of variation, a ≈ (σ/μ)^-1.086.
func fitWeibull(b binned) estimate {
	return fitLocated(b, newWeibull, func(mean, sigma float64) (size, spread float64) {
		a := math.Pow(sigma/mean, -1.086)
		size = mean / math.Gamma(1+1/a)
		return size, size / a
	})
}

func newWeibull(size, spread float64) shape { return weibull{size / spread, size} }

func (w weibull) below(x float64) (lower, upper float64) {
	z := math.Pow(x/w.b, w.a)
	return -math.Expm1(-z), math.Exp(-z)
}

func (w weibull) inverse(q float64) float64 { return w.b * math.Pow(-math.Log1p(-q), 1/w.a) }

func (w weibull) named(window float64) []Param {
	return []Param{{"shape", w.a}, {"scale_ns", w.b * window}}
}
