package fit

import "gonum.org/v1/gonum/mathext"

// gamma is the law with density x^(a-1) e^(-x/b) / (b^a Γ(a)).
type gamma struct{ a, b float64 }

// fitGamma takes mean and standard deviation for size and spread.
func fitGamma(b binned) estimate {
	return fitLocated(b, newGamma, func(mean, sigma float64) (size, spread float64) { return mean, sigma })
}

func newGamma(size, spread float64) shape {
	return gamma{size * size / (spread * spread), spread * spread / size}
}

func (g gamma) below(x float64) (lower, upper float64) { return incomplete(g.a, x/g.b, false) }

func (g gamma) inverse(q float64) float64 {
	if q > 0.5 {
		return g.b * mathext.GammaIncRegCompInv(g.a, 1-q)
	}
	return g.b * mathext.GammaIncRegInv(g.a, q)
}

func (g gamma) named(window float64) []Param {
	return []Param{{"shape", g.a}, {"scale_ns", g.b * window}}
}
