package fit

import (
	"math"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/optimize"
)

// minimise returns where f is least, near start, and the value there. The
// simplex search of Nelder and Mead needs no derivatives and finds the valley;
// Newton steps on numerical derivatives then settle the parameters to about ten
// digits, which the simplex, comparing values only, cannot.
func minimise(start []float64, f func([]float64) float64) (at []float64, value float64) {
	bounded := func(p []float64) float64 {
		if v := f(p); !math.IsNaN(v) && v < unbounded {
			return v
		}
		return unbounded
	}
	at, value = append(at, start...), bounded(start)
	settings := &optimize.Settings{
		Converger:       &optimize.FunctionConverge{Absolute: 1e-3, Iterations: 10 * len(start)},
		FuncEvaluations: 300 * len(start),
	}
	// An error means that the search gave up early; its best point, if there
	// is one, still serves.
	r, _ := optimize.Minimize(optimize.Problem{Func: bounded}, start, settings, &optimize.NelderMead{SimplexSize: 0.2})
	if r != nil && r.F < value {
		at, value = append(at[:0], r.X...), r.F
	}
	return newton(at, value, bounded)
}

// newton polishes a minimum. It stops when a full step no longer changes the
// parameters, or when the Hessian is not positive definite even with a ridge: then the
// valley is flat and the simplex's answer is as good as any.
func newton(at []float64, value float64, f func([]float64) float64) ([]float64, float64) {
	n := len(at)
	ridge := 0.0
	for range 30 {
		gradient, hessian := derivatives(at, value, f)
		for j := range n {
			hessian.SetSym(j, j, hessian.At(j, j)*(1+ridge)+ridge)
		}
		var chol mat.Cholesky
		var step mat.VecDense
		if !chol.Factorize(hessian) || chol.SolveVecTo(&step, gradient) != nil {
			if ridge = 10*ridge + 1e-3; ridge > 1e6 {
				break
			}
			continue
		}
		next := make([]float64, n)
		for j := range next {
			next[j] = at[j] - step.AtVec(j)
		}
		size := mat.Norm(&step, math.Inf(1))
		switch v := f(next); {
		case size < 1e-6 && ridge == 0:
			// So near, values differ by rounding only and the step squares
			// the error: trust it, and be done.
			return next, v
		case v < value:
			at, value, ridge = next, v, ridge/10
			if ridge < 1e-6 {
				ridge = 0
			}
		default:
			if ridge = 10*ridge + 1e-3; ridge > 1e6 {
				return at, value
			}
		}
	}
	return at, value
}

// derivatives returns gradient and Hessian by differences of fourth and second
// order; the step balances truncation against the rounding of a likelihood.
func derivatives(at []float64, value float64, f func([]float64) float64) (*mat.VecDense, *mat.SymDense) {
	const h = 1e-3
	n := len(at)
	g, hess := mat.NewVecDense(n, nil), mat.NewSymDense(n, nil)
	p := append([]float64(nil), at...)
	moved := func(i, j int, a, b float64) float64 {
		p[i] += a
		p[j] += b
		v := f(p)
		copy(p, at)
		return v
	}
	for i := range n {
		p1, m1 := moved(i, i, h, 0), moved(i, i, -h, 0)
		p2, m2 := moved(i, i, 2*h, 0), moved(i, i, -2*h, 0)
		g.SetVec(i, (8*(p1-m1)-(p2-m2))/(12*h))
		hess.SetSym(i, i, (16*(p1+m1)-(p2+m2)-30*value)/(12*h*h))
		for j := range i {
			hess.SetSym(i, j, (moved(i, j, h, h)-moved(i, j, h, -h)-
				moved(i, j, -h, h)+moved(i, j, -h, -h))/(4*h*h))
		}
	}
	return g, hess
}

// solve returns the root of an increasing function by bisection, and the nearer
// end if there is none between lo and hi. It ends at neighbouring numbers.
func solve(lo, hi float64, f func(float64) float64) float64 {
	for range 200 {
		mid := lo + (hi-lo)/2
		if mid == lo || mid == hi {
			break
		}
		if f(mid) < 0 {
			lo = mid
		} else {
			hi = mid
		}
	}
	return lo + (hi-lo)/2
}

// minimiseLine returns where f is least between lo and hi: a grid finds the
// valley, golden sections narrow it down to rounding.
func minimiseLine(lo, hi float64, f func(float64) float64) float64 {
	const points = 64
	best, least := lo, math.Inf(1)
	for j := range points + 1 {
		x := lo + (hi-lo)*float64(j)/points
		if v := f(x); v < least {
			best, least = x, v
		}
	}
	golden := (math.Sqrt(5) - 1) / 2
	lo, hi = max(lo, best-(hi-lo)/points), min(hi, best+(hi-lo)/points)
	a, b := hi-golden*(hi-lo), lo+golden*(hi-lo)
	fa, fb := f(a), f(b)
	for range 60 {
		if fa <= fb {
			hi, b, fb = b, a, fa
			a = hi - golden*(hi-lo)
			fa = f(a)
		} else {
			lo, a, fa = a, b, fb
			b = lo + golden*(hi-lo)
			fb = f(b)
		}
	}
	return lo + (hi-lo)/2
}
