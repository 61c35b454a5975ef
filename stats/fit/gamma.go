package fit

import (
	"math"

	"gonum.org/v1/gonum/mathext"
)

// gamma is the law with density x^(a-1) e^(-x/b) / (b^a Γ(a)).
type gamma struct{ a, b float64 }

// fitGamma searches over ln(a·b), the mean, and ln a: nearly orthogonal, where
// shape and scale are not.
func fitGamma(b binned) estimate {
	return fitLocated(b, newGamma, func(mean, variance float64) (u, v float64) {
		return math.Log(mean), math.Log(mean * mean / max(variance, 1e-6))
	})
}

func newGamma(u, v float64) shape {
	a := math.Exp(min(v, maxShape))
	return gamma{a, math.Exp(u) / a}
}

// maxShape is the logarithm beyond which a shape is not told from a normal law.
const maxShape = 12

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
