package fit

import (
	"math"

	"gonum.org/v1/gonum/mat"
)

// maxTailError stands for a rate about which the sample says next to nothing.
const maxTailError = 2

// tailError returns the standard error of ln rate(law) at the estimate, by the delta
// method: √(gᵀ I⁻¹ g) with the gradient g of ln rate and Fisher's information I of the
// classes, both in the coordinates of the search. Where the sample says nothing in
// some direction, the error is its bound.
func (b binned) tailError(e estimate, rate func(law) float64) float64 {
	c := b.cells()
	expected := make([]float64, len(c.observed))
	c.expect(e.law, expected)
	information := c.slopes(e.build, e.at, 1e-4, false).information(expected)
	var chol mat.Cholesky
	if !finite(information) || !chol.Factorize(information) {
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
