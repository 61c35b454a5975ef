package fit

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
)

const (
	// maxSteps ends searches in valleys that lead nowhere: those of laws that do
	// not fit at all.
	maxSteps = 40
	// maxStride is the longest step in any coordinate. They are logarithms, mostly.
	maxStride = 1.5
	// maxDamping marks a point that no step leads down from.
	maxDamping = 1e8
	// small is the length of a step from which on values differ by rounding only.
	small = 1e-6
	// flat is a gain not worth a long step: of the likelihood's logarithm, or of χ²/2.
	flat = 1e-6
)

// search returns where a misfit is least, near start, and its value there. It
// is R. A. Fisher's method of scoring: Newton's steps with the expected information
// for the second derivatives, which needs first derivatives only and is never
// negative, damped where they lead up (D. W. Marquardt, SIAM Journal on Applied
// Mathematics 11, 1963). The first law must be wide enough to expect all that was
// observed, or its information misleads. The value is right to rounding, coordinates to about
// six digits.
func (c cells) search(d misfit, build func(at []float64) law, start []float64) (at []float64, value float64) {
	at = start
	if outside(at) {
		return at, unbounded
	}
	expected, next := make([]float64, len(c.observed)), make([]float64, len(c.observed))
	c.expect(build(at), expected)
	value = c.total(d, expected)
	damping := 1e-3
	for range maxSteps {
		s := c.slopes(build, at, 1e-4, false)
		gradient, information := s.gradient(c, d, expected), s.information(expected)
		moved := false
		for ; !moved; damping = max(10*damping, 1e-4) {
			step, ok := dampedStep(information, gradient, damping)
			size := mat.Norm(step, math.Inf(1))
			if damping > maxDamping || ok && (size < small || size > 1000*small && mat.Dot(step, gradient) < 2*flat) {
				return at, value
			}
			if !ok {
				continue
			}
			to := along(at, step, min(1, maxStride/size))
			if outside(to) {
				continue
			}
			c.expect(build(to), next)
			if v := c.total(d, next); v < value {
				at, value, expected, next, moved = to, v, next, expected, true
			}
		}
		if damping /= 100; damping < 1e-6 {
			damping = 0
		}
	}
	return at, value
}

// polish settles the coordinates that a search found to about ten digits. Values
// do not tell one point from another there; steps are trusted as long as
// they shrink, which they do, by a large factor each, where the law fits.
func (c cells) polish(d misfit, build func(at []float64) law, at []float64) []float64 {
	expected := make([]float64, len(c.observed))
	for last := 1000 * small; last > 1e-11; {
		c.expect(build(at), expected)
		s := c.slopes(build, at, 1e-3, true)
		step, ok := dampedStep(s.information(expected), s.gradient(c, d, expected), 0)
		size := mat.Norm(step, math.Inf(1))
		if !ok || size > last/2 {
			break
		}
		at, last = along(at, step, 1), size
	}
	return at
}

// along returns the point that part of a step leads to.
func along(at []float64, step *mat.VecDense, part float64) []float64 {
	to := make([]float64, len(at))
	for j := range to {
		to[j] = at[j] - part*step.AtVec(j)
	}
	return to
}

// dampedStep solves (I + damping·diag I) step = gradient. A direction in which the
// sample says nothing gets a share of the largest information, or there would
// be no bound to the step.
func dampedStep(information *mat.SymDense, gradient *mat.VecDense, damping float64) (step *mat.VecDense, ok bool) {
	n := gradient.Len()
	step = mat.NewVecDense(n, nil)
	damped := mat.NewSymDense(n, nil)
	damped.CopySym(information)
	var most float64
	for j := range n {
		most = max(most, information.At(j, j))
	}
	for j := range n {
		damped.SetSym(j, j, information.At(j, j)*(1+damping)+1e-9*damping*most)
	}
	var chol mat.Cholesky
	if !finite(damped) || !chol.Factorize(damped) || chol.SolveVecTo(step, gradient) != nil {
		return step, false
	}
	return step, mat.Norm(step, math.Inf(1)) < unbounded
}

// slopes are the derivatives of the expected calls: one row for each coordinate.
type slopes [][]float64

// slopes returns the derivatives around a point by central differences over ±h, of second
// order or, fine, of fourth.
func (c cells) slopes(build func(at []float64) law, at []float64, h float64, fine bool) slopes {
	p := slices.Clone(at)
	up, down := make([]float64, len(c.observed)), make([]float64, len(c.observed))
	out := make(slopes, len(at))
	for j := range at {
		// difference adds weight · (E(at+x) - E(at-x))/(2x).
		difference := func(x, weight float64) {
			p[j] = at[j] + x
			c.expect(build(p), up)
			p[j] = at[j] - x
			c.expect(build(p), down)
			p[j] = at[j]
			for k := range up {
				out[j][k] += weight * (up[k] - down[k]) / (2 * x)
			}
		}
		out[j] = make([]float64, len(c.observed))
		if fine {
			difference(h, 4.0/3)
			difference(2*h, -1.0/3)
			continue
		}
		difference(h, 1)
	}
	return out
}

// gradient returns the derivatives of a misfit.
func (s slopes) gradient(c cells, d misfit, expected []float64) *mat.VecDense {
	g := mat.NewVecDense(len(s), nil)
	for k, e := range expected {
		by := d.slope(c.observed[k], e)
		for j := range s {
			g.SetVec(j, g.AtVec(j)+by*s[j][k])
		}
	}
	return g
}

// information returns Fisher's information, Σ ∂E ∂E'/E over the cells.
func (s slopes) information(expected []float64) *mat.SymDense {
	out := mat.NewSymDense(len(s), nil)
	for i := range s {
		for j := range i + 1 {
			var sum float64
			for k, e := range expected {
				if e > tiny {
					sum += s[i][k] * s[j][k] / e
				}
			}
			out.SetSym(i, j, sum)
		}
	}
	return out
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
