package fit

import (
	"math"

	"gonum.org/v1/gonum/mat"
)

// maxTailError stands for a rate about which the sample says next to nothing.
const maxTailError = 2

// tailError returns the standard error of ln rate(law) at the estimate, by the delta
// method: √(gᵀ H⁻¹ g) with the gradient g of ln rate and the Hessian H of the
// negative log-likelihood, both in the coordinates of the search. Where the
// likelihood is flat in some direction, the error is its bound.
func (b binned) tailError(e estimate, rate func(law) float64) float64 {
	value := -b.logLikelihood(e.law)
	_, hessian := derivatives(e.at, value, func(p []float64) float64 { return -b.logLikelihood(e.build(p)) })
	var chol mat.Cholesky
	if !finite(hessian) || !chol.Factorize(hessian) {
		return maxTailError
	}
	g := mat.NewVecDense(len(e.at), nil)
	const h = 1e-4
	for j := range e.at {
		p := append([]float64(nil), e.at...)
		p[j] += h
		up := math.Log(max(rate(e.build(p)), tiny))
		p[j] -= 2 * h
		g.SetVec(j, (up-math.Log(max(rate(e.build(p)), tiny)))/(2*h))
	}
	var x mat.VecDense
	if chol.SolveVecTo(&x, g) != nil {
		return maxTailError
	}
	variance := mat.Dot(g, &x)
	if !(variance >= 0 && variance < maxTailError*maxTailError) {
		return maxTailError
	}
	return math.Sqrt(variance)
}

// finite tells whether a matrix holds numbers only.
func finite(m *mat.SymDense) bool {
	n, _ := m.Dims()
	for i := range n {
		for j := range n {
			if v := m.At(i, j); math.IsNaN(v) || math.IsInf(v, 0) {
				return false
			}
		}
	}
	return true
}
